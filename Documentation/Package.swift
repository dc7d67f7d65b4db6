// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who uses or builds the store fetches the plugin.
let package = Package(
  name: "msgstore-documentation",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "msgstore", path: ".."),
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", exact: "1.5.0"),
  ],
  targets: [
    // The plugin documents products of dependencies only if some target uses them.
    .target(
      name: "Documentation",
      dependencies: [
        .product(name: "MsgStore", package: "msgstore"),
        .product(name: "MsgStoreTools", package: "msgstore"),
        .product(name: "PageFile", package: "msgstore"),
      ])
  ]
)

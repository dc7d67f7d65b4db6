// swift-tools-version: 6.2
import PackageDescription

/// What every target of the store itself is built with.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// A package of its own, so that nobody who builds or tests the store fetches swift-crypto, and so
// that the trait is tested as a client uses it: only the libraries and tools named here are built.
let package = Package(
  name: "msgstore-encryption",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "msgstore", path: "..", traits: ["Tools", "SystemLZ4", "Encryption"]),
    .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
  ],
  targets: [
    .testTarget(
      name: "EncryptionTests",
      dependencies: [
        .product(name: "MsgStore", package: "msgstore"),
        .product(name: "MsgStoreTools", package: "msgstore"),
        .product(name: "PageFile", package: "msgstore"),
        .product(name: "SealedPages", package: "msgstore"),
        .product(name: "msgdump", package: "msgstore"),
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      exclude: ["Golden"], swiftSettings: strict)
  ]
)

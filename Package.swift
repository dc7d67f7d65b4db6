// swift-tools-version: 6.2
import PackageDescription

/// What every target is built with: Swift 6, no warnings, and a mark on every unsafe expression.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "msgstore",
  platforms: [.macOS(.v26), .iOS(.v26)],
  products: [
    .library(name: "PageFile", targets: ["PageFile"]),
  ],
  targets: [
    .target(name: "PageFile", swiftSettings: strict),
    .testTarget(name: "PageFileTests", dependencies: ["PageFile"], swiftSettings: strict),
  ]
)

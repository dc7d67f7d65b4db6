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

/// The store, built for fuzzing: it says which ways it takes, and bad accesses are found.
///
/// Both sanitizers stand in one flag: given one by one, the second replaces the first.
let fuzzed = strict + [.unsafeFlags(["-sanitize=fuzzer,address"])]

/// What drives the store: where it goes is no news to the fuzzer.
let driving = strict + [.unsafeFlags(["-sanitize=address"])]

// The sources are links to those of the store, since what has `package` access stays in a package.
let package = Package(
  name: "msgstore-fuzz",
  targets: [
    .systemLibrary(
      name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
    .target(name: "CFuzzer"),
    .target(name: "PageFile", swiftSettings: fuzzed),
    .target(name: "PageFileSalvage", dependencies: ["PageFile"], swiftSettings: fuzzed),
    .target(name: "TextDictionary", dependencies: ["PageFile"], swiftSettings: fuzzed),
    .target(name: "LZ4Blocks", dependencies: ["PageFile"], swiftSettings: fuzzed),
    .target(name: "SystemLZ4", dependencies: ["PageFile", "CLZ4"], swiftSettings: fuzzed),
    .target(
      name: "MsgStore", dependencies: ["PageFile", "TextDictionary", "LZ4Blocks", "SystemLZ4"],
      swiftSettings: fuzzed + [.define("SYSTEM_LZ4")]),
    .target(
      name: "MsgStoreTools", dependencies: ["MsgStore", "PageFile", "PageFileSalvage"],
      swiftSettings: fuzzed),
    .target(name: "Simulation", dependencies: ["PageFile"], swiftSettings: driving),
    .target(
      name: "BlockTrials", dependencies: ["LZ4Blocks", "SystemLZ4", "PageFile", "Simulation"],
      swiftSettings: driving),
    .target(
      name: "FuzzTargets",
      dependencies: [
        "PageFile", "PageFileSalvage", "MsgStore", "MsgStoreTools", "BlockTrials", "Simulation",
      ],
      swiftSettings: driving),
    .executableTarget(
      name: "Fuzz", dependencies: ["FuzzTargets", "CFuzzer"], swiftSettings: driving,
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
  ]
)

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

/// Optimises libraries of a debug build and keeps their assertions, for `make test`: the tests run
/// through them millions of times.
///
/// File by file, so that all cores compile, and a change of one file compiles little else; the
/// bottom is compiled as a whole, since its generic parts are slow where they are not specialised.
/// Only where the environment asks for it, since a package with unsafe flags cannot be depended on.
let (optimizedByFile, optimized): ([SwiftSetting], [SwiftSetting]) =
  Context.environment["MSGSTORE_OPTIMIZED_LIBRARIES"] == nil
  ? ([], [])
  : (
    [.unsafeFlags(["-O", "-assert-config", "Debug"])],
    [
      .unsafeFlags([
        "-O", "-whole-module-optimization", "-num-threads", "2", "-assert-config", "Debug",
      ])
    ]
  )

/// Leaves all tests out but those listed here, for `make test-tsan`: the sanitizer takes the time of
/// a build of its own, and finds nothing in what one thread does.
let isOfThreads = Context.environment["MSGSTORE_THREAD_TESTS"] != nil

/// The tests of threads in `MsgStoreTests`, and what they are written with.
let storeThreadTests = [
  "Conversations/ConversationSupport.swift", "Messages/MessageSupport.swift",
  "Observation/ListeningTests.swift", "Observation/Trouble.swift",
  "Outbox/OutboxDurabilityTests.swift", "Outbox/OutboxSupport.swift",
  "Outbox/OutboxWorkTests.swift", "Outbox/OutboxWorkTroubleTests.swift", "TestSupport.swift",
]

/// What the tools and the benchmark need.
let tools: [Package.Dependency] =
  isOfThreads
  ? []
  : [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    // Not fetched unless the trait is on. One version, so that its figures can be compared.
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ]

/// The platforms that have a liblz4 to link; the others always use the package's own codec.
let havingLZ4: [Platform] = [.linux, .macOS]

/// The platforms without CryptoKit, where the same cipher comes from swift-crypto.
let lackingCryptoKit: [Platform] = [.linux, .android, .windows]

let package = Package(
  name: "msgstore",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
  products: [
    .library(name: "MsgStore", targets: ["MsgStore"]),
    .library(name: "MsgStoreFoundation", targets: ["MsgStoreFoundation"]),
    .library(name: "MsgStoreUI", targets: ["MsgStoreUI"]),
    .library(name: "MsgStoreTools", targets: ["MsgStoreTools"]),
    .library(name: "MsgStoreToolsFoundation", targets: ["MsgStoreToolsFoundation"]),
    .library(name: "PageFile", targets: ["PageFile"]),
    .library(name: "SealedPages", targets: ["SealedPages"]),
    .executable(name: "msgdump", targets: ["msgdump"]),
    .executable(name: "msgstore-bench", targets: ["msgstore-bench"]),
  ],
  traits: [
    .trait(
      name: "Tools",
      description: "Fetches what the command-line tools need; a client does without it."),
    .trait(
      name: "Peers",
      description: "Lets the benchmark measure GRDB and LMDB, which a normal build does without."),
    .trait(
      name: "Encryption",
      description: "Has the cipher of encrypted stores, which a normal build does without."),
    .trait(
      name: "SystemLZ4",
      description: "Compresses with the system's liblz4 on Linux and macOS, in place of our codec."),
    .trait(name: "SQLite", description: "Lets the benchmark measure SQLite."),
    .trait(
      name: "SQLCipher",
      description: "Lets the benchmark measure SQLCipher, in place of SQLite, whose names it has."),
    .default(enabledTraits: ["Tools", "SystemLZ4", "SQLite"]),
  ],
  dependencies: tools + [
    // Not fetched unless the trait is on. One version, whose insides docs/security.md speaks of.
    .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2")
  ],
  targets: [
    .systemLibrary(
      name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(
      name: "CSQLCipher", pkgConfig: "sqlcipher",
      providers: [.apt(["libsqlcipher-dev"]), .brew(["sqlcipher"])]),
    .systemLibrary(
      name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .target(name: "PageFile", swiftSettings: strict + optimized),
    // Salvage of damaged files: an app that does not import it does not carry it.
    .target(name: "PageFileSalvage", dependencies: ["PageFile"], swiftSettings: strict + optimized),
    // The cipher of encrypted stores; empty without the trait. `Encryption/` has its tests.
    .target(
      name: "SealedPages",
      dependencies: [
        "PageFile",
        .product(
          name: "Crypto", package: "swift-crypto",
          condition: .when(platforms: lackingCryptoKit, traits: ["Encryption"])),
      ],
      swiftSettings: strict),
    // Trains dictionaries for compression; it knows no messages.
    .target(
      name: "TextDictionary", dependencies: ["PageFile"], swiftSettings: strict + optimized),
    // Two codecs of one format with the same interface: the package's own, and liblz4.
    .target(name: "LZ4Blocks", dependencies: ["PageFile"], swiftSettings: strict + optimized),
    .target(
      name: "SystemLZ4",
      dependencies: ["PageFile", .target(name: "CLZ4", condition: .when(platforms: havingLZ4))],
      swiftSettings: strict),
    .target(
      name: "MsgStore",
      dependencies: [
        "PageFile", "TextDictionary", "LZ4Blocks",
        .target(
          name: "SystemLZ4", condition: .when(platforms: havingLZ4, traits: ["SystemLZ4"])),
      ],
      swiftSettings: strict + optimizedByFile + [
        .define("SYSTEM_LZ4", .when(platforms: havingLZ4, traits: ["SystemLZ4"]))
      ]),
    // Dates and localized errors, for an app that uses Foundation anyway.
    .target(
      name: "MsgStoreFoundation", dependencies: ["MsgStore", "PageFile"], swiftSettings: strict),
    // Observable models for views.
    .target(name: "MsgStoreUI", dependencies: ["MsgStore"], swiftSettings: strict),
    // Check, export, restore, salvage: an app that does not import it does not carry it.
    .target(
      name: "MsgStoreTools", dependencies: ["MsgStore", "PageFile", "PageFileSalvage"],
      swiftSettings: strict + optimizedByFile),
    // Localized errors of the tools.
    .target(
      name: "MsgStoreToolsFoundation", dependencies: ["MsgStoreTools"], swiftSettings: strict),
    .executableTarget(
      name: "msgdump",
      dependencies: [
        "MsgStore", "MsgStoreTools", "PageFile", "SealedPages",
        .product(
          name: "ArgumentParser", package: "swift-argument-parser",
          condition: .when(traits: ["Tools"])),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "msgstore-bench",
      dependencies: [
        "MsgStore", "SealedPages",
        .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
        .target(name: "CSQLCipher", condition: .when(traits: ["SQLCipher"])),
        .target(name: "CLMDB", condition: .when(traits: ["Peers"])),
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Peers"])),
        .product(
          name: "ArgumentParser", package: "swift-argument-parser",
          condition: .when(traits: ["Tools"])),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "PageFileTests",
      dependencies: [
        "PageFile", "PageFileSalvage", "Simulation", "Damage", "ProtocolModel", "Schedules",
      ],
      exclude: ["Golden"],
      sources: isOfThreads ? ["Concurrency", "Support/DatabaseSupport.swift"] : nil,
      swiftSettings: strict),
    .testTarget(
      name: "MsgStoreTests",
      dependencies: [
        "MsgStore", "MsgStoreTools", "PageFile", "PageFileSalvage", "Simulation", "Damage",
      ]
        + (isOfThreads
          ? []
          : [
            "Interleavings", "MsgStoreFoundation", "MsgStoreToolsFoundation", "MsgStoreUI",
            "RandomChat",
            "TextDictionary", "msgdump", "crash-writer",
          ]),
      exclude: ["Golden/Expected", "Golden/Stores"], sources: isOfThreads ? storeThreadTests : nil,
      swiftSettings: strict),
    .testTarget(
      name: "BenchTests", dependencies: ["msgstore-bench"], swiftSettings: strict),
    // What holds of the sources themselves.
    .testTarget(name: "TidyTests", swiftSettings: strict),
    // A disk that loses power, and what is asked of stores on it.
    .target(
      name: "Simulation", dependencies: ["PageFile"], path: "Tests/Simulation",
      swiftSettings: strict + optimized),
    // Damage to whole stores, for the tests and for long runs.
    .target(
      name: "Damage", dependencies: ["PageFile"], path: "Tests/Damage",
      swiftSettings: strict + optimized),
    // The protocol as a model that shares no code with the engine.
    .target(
      name: "ProtocolModel", path: "Tests/ProtocolModel", swiftSettings: strict + optimized),
    // The package's own LZ4 codec beside liblz4, and beside the description of the format.
    .target(
      name: "BlockTrials", dependencies: ["LZ4Blocks", "SystemLZ4", "PageFile", "Simulation"],
      path: "Tests/BlockTrials", swiftSettings: strict + optimized),
    .testTarget(
      name: "LZ4BlocksTests",
      dependencies: ["LZ4Blocks", "BlockTrials", "PageFile", "Simulation"],
      swiftSettings: strict),
    // What the fuzzers in `Fuzz/` run, so that tests can replay what they have found.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "MsgStore", "MsgStoreTools", "PageFile", "PageFileSalvage", "BlockTrials", "Simulation",
      ],
      path: "Tests/FuzzTargets", swiftSettings: strict),
    .testTarget(
      name: "FuzzTargetsTests", dependencies: ["FuzzTargets", "PageFile", "Simulation"],
      swiftSettings: strict),
    // Several processes on one store, as threads that take turns.
    .target(
      name: "Schedules", dependencies: ["PageFile"], path: "Tests/Schedules",
      swiftSettings: strict + optimized),
    // The threads of one process on one store, in any order.
    .target(
      name: "Interleavings", dependencies: ["PageFile", "Simulation"], path: "Tests/Interleavings",
      swiftSettings: strict),
    // What both programs for long runs have in common.
    .target(
      name: "Subcommands", dependencies: ["PageFile"], path: "Tests/Subcommands",
      swiftSettings: strict),
    // The tests that take hours.
    .executableTarget(
      name: "torture",
      dependencies: [
        "Simulation", "Damage", "ProtocolModel", "Schedules", "Interleavings", "BlockTrials",
        "PageFile", "Subcommands",
      ],
      path: "Tests/Torture", swiftSettings: strict),
    .executableTarget(
      name: "torture-store",
      dependencies: ["MsgStore", "PageFile", "BlockTrials", "Simulation", "Subcommands"],
      path: "Tests/TortureStore", swiftSettings: strict),
    // Random acts on a store, and a picture of all that can be read of it.
    .target(
      name: "RandomChat", dependencies: ["MsgStore", "PageFile", "Simulation"],
      path: "Tests/RandomChat", swiftSettings: strict + optimized),
    // The answers of a store to random acts, to be compared with those of another commit.
    .executableTarget(
      name: "oracle",
      dependencies: ["MsgStore", "MsgStoreTools", "PageFile", "RandomChat", "Simulation"],
      path: "Tests/Oracle", swiftSettings: strict),
    // Single operations to be looked at by a profiler.
    .executableTarget(
      name: "walk", dependencies: ["MsgStore"], path: "Tests/Walk", swiftSettings: strict),
    // A client that shows how the store is used, and two people who use it. They see what a user of
    // the package sees, and nothing else.
    .target(
      name: "ChatClient", dependencies: ["MsgStore"], path: "Examples/ChatClient",
      packageAccess: false, swiftSettings: strict),
    .executableTarget(
      name: "chat-example", dependencies: ["ChatClient", "MsgStore"],
      path: "Examples/chat-example", packageAccess: false, swiftSettings: strict),
    // A move of all messages from an SQLite file, which may be killed at any time. The article
    // "Moving from another database" shows its code.
    .target(
      name: "MovingFromSQLite", dependencies: ["MsgStore", "CSQLite"],
      path: "Examples/MovingFromSQLite", packageAccess: false, swiftSettings: strict),
    .executableTarget(
      name: "move-from-sqlite", dependencies: ["MovingFromSQLite", "MsgStore"],
      path: "Examples/move-from-sqlite", packageAccess: false, swiftSettings: strict),
    // What a client must come through: links that break and processes that are killed.
    .testTarget(
      name: "ReliabilityTests",
      dependencies: [
        "ChatClient", "MovingFromSQLite", "MsgStore", "MsgStoreTools", "Simulation", "chat-example",
        "move-from-sqlite", "msgdump",
      ],
      swiftSettings: strict),
    // What the tests of crashes start and kill.
    .executableTarget(
      name: "crash-writer", dependencies: ["MsgStore", "MsgStoreTools", "PageFile"],
      path: "Tests/CrashWriter",
      swiftSettings: strict),
  ]
)

if isOfThreads {
  let kept: Set = [
    "CLZ4", "Damage", "LZ4Blocks", "MsgStore", "MsgStoreTests", "MsgStoreTools", "PageFile",
    "PageFileTests", "PageFileSalvage", "ProtocolModel", "Schedules", "SealedPages", "Simulation",
    "SystemLZ4", "TextDictionary",
  ]
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll { !kept.contains($0.name) }
}

import PageFile
import Subcommands

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The tests that take hours: each subcommand is one way to look for what goes wrong.
///
/// A subcommand is one file that makes a `Subcommand`; it is added here and nowhere else.
let subcommands: [Subcommand] =
  [
    .crash, .faults, .flips, .blocks, .model, .schedules, .defects,
  ]
  + (Interleaving.isBuiltIn ? [.interleavings, .interleaved] : [])

exit(Arguments.run("torture", subcommands, Array(CommandLine.arguments.dropFirst())))

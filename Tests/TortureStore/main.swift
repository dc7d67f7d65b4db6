import Subcommands

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What `torture` has of the message store, apart from it so that it is built without.
exit(
  Arguments.run(
    "torture-store", [.guesses, .defects], Array(CommandLine.arguments.dropFirst())))

import CFuzzer
import FuzzTargets
import Glibc

/// `Fuzz TARGET [argument of libFuzzer …]`: with files it runs these, with folders it fuzzes.
@main
enum Fuzz {
  nonisolated(unsafe) private static var target = FuzzTarget.storeFiles

  /// With `FUZZ_TELL=1` each step is printed: for looking into one input.
  private static let tells = unsafe getenv("FUZZ_TELL") != nil

  /// How many seconds of the processor one run may take: a second, and the address sanitizer makes
  /// everything two to three times as slow.
  ///
  /// The clock on the wall would also count what other processes do.
  private static let secondCountMax = 3.0

  static func main() {
    guard CommandLine.arguments.count > 1,
      let target = FuzzTarget(rawValue: CommandLine.arguments[1])
    else {
      print("usage: Fuzz TARGET …, where TARGET is one of")
      for target in FuzzTarget.allCases { print("  \(target.rawValue)") }
      exit(2)
    }
    unsafe self.target = target
    // What a target makes once for all runs is not counted.
    run([])
    // libFuzzer reads the arguments from the second on.
    var argc = CommandLine.argc - 1
    var argv = unsafe Optional(CommandLine.unsafeArgv + 1)
    exit(
      unsafe LLVMFuzzerRunDriver(&argc, &argv) { data, count in
        let start = Fuzz.seconds()
        unsafe Fuzz.run([UInt8](UnsafeBufferPointer(start: data, count: count)))
        let elapsed = Fuzz.seconds() - start
        if elapsed > Fuzz.secondCountMax { Fuzz.fail("took \(elapsed) s of the processor") }
        return 0
      })
  }

  private static func run(_ input: [UInt8]) {
    do {
      try unsafe target.run(input, tell: tells ? { say($0) } : nil)
    } catch {
      fail("\(error)")
    }
  }

  /// libFuzzer keeps the input of a run that ends like this.
  private static func fail(_ sentence: String) -> Never {
    say(sentence)
    abort()
  }

  /// Whatever comes next may end the process.
  private static func say(_ sentence: String) {
    print(sentence)
    fflush(nil)
  }

  private static func seconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
  }
}

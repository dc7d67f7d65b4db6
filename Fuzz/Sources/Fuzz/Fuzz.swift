import CFuzzer
import FuzzTargets
import Glibc

/// `FUZZ_TARGET=name Fuzz [argument of libFuzzer …]`: with files it runs these, with folders it fuzzes.
///
/// The name is no argument, as libFuzzer starts this program anew with arguments of its own.
@main
enum Fuzz {
  nonisolated(unsafe) private static var target = FuzzTarget.storeFiles

  /// With `FUZZ_TELL=1` each step is printed: for looking into one input.
  private static let tells = unsafe getenv("FUZZ_TELL") != nil

  /// How many seconds of the processor one run may take: a second, and the address sanitizer makes
  /// everything two to three times as slow.
  ///
  /// The clock on the wall would also count what other processes do.
  private static let maximumSecondCount = 3.0

  static func main() {
    guard let name = unsafe getenv("FUZZ_TARGET"),
      let target = FuzzTarget(rawValue: unsafe String(cString: name))
    else {
      print("FUZZ_TARGET has to be one of")
      for target in FuzzTarget.allCases { print("  \(target.rawValue)") }
      exit(2)
    }
    unsafe self.target = target
    // What a target makes once for all runs is not counted.
    run([])
    var argc = CommandLine.argc
    var argv = unsafe Optional(CommandLine.unsafeArgv)
    exit(
      unsafe LLVMFuzzerRunDriver(&argc, &argv) { data, count in
        let start = Fuzz.seconds()
        unsafe Fuzz.run([UInt8](UnsafeBufferPointer(start: data, count: count)))
        let elapsed = Fuzz.seconds() - start
        if elapsed > Fuzz.maximumSecondCount { Fuzz.fail("took \(elapsed) s of the processor") }
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

import Foundation

/// The number of seeds, rounds and places that a long test tries.
///
/// A debug build runs the same code some thirty times slower than a release build. So a test whose
/// cases are all alike tries fewer of them there: `make test` stays short, and `make test-release`
/// tries them all. A count changes how often a test asks, never its question; a case that differs
/// in kind from the others is never left out.
package enum Scale {
  /// True in release builds, and in debug builds with `MSGSTORE_FULL=1`.
  package static let isFull: Bool = {
    #if DEBUG
      ProcessInfo.processInfo.environment["MSGSTORE_FULL"] == "1"
    #else
      true
    #endif
  }()

  /// Returns the number of cases to try.
  package static func count(debug: Int, release: Int) -> Int { isFull ? release : debug }
}

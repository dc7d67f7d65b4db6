#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A distribution given by some of its quantiles, evenly spread between their logarithms.
struct Quantiles {
  private let points: [(share: Double, value: Double)]

  /// Creates a distribution from shares and their values.
  ///
  /// The first share is 0 and the last one 1. No value is zero.
  init(_ points: KeyValuePairs<Double, Double>) {
    self.points = points.map { ($0.key, $0.value) }
  }

  /// Returns the value that this share of all values does not exceed.
  func value(at share: Double) -> Double {
    for (low, high) in zip(points, points.dropFirst()) where share <= high.share {
      let part = (share - low.share) / (high.share - low.share)
      return low.value * pow(high.value / low.value, part)
    }
    return points.last?.value ?? 0
  }

  func draw(using generator: inout SeededGenerator) -> Int {
    Int(value(at: generator.fraction()).rounded())
  }
}

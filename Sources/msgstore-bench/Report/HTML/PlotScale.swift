#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Where a value is between the two ends of an axis, in percent.
///
/// Plots have no size of their own: whatever is in them is placed in percent, so that they fit a
/// phone and a desk without a script, and their text stays as large as other text.
package struct PlotScale {
  private let low: Double
  private let high: Double

  /// An axis by powers of ten, from the one below the least value to the one above the greatest.
  package init(powersOfTenAround values: [Double]) {
    let logarithms = values.filter { $0 > 0 }.map { log10($0) }
    low = (logarithms.min() ?? 0).rounded(.down)
    high = max((logarithms.max() ?? 1).rounded(.up), low + 1)
  }

  /// 0 at the beginning of the axis, 1 at its end.
  package func share(_ value: Double) -> Double {
    value > 0 ? (log10(value) - low) / (high - low) : 0
  }

  package func percent(_ value: Double) -> String { Self.percent(share(value)) }

  /// The powers of ten on it.
  package var ticks: [Double] {
    stride(from: low, through: high, by: 1).map { pow(10, $0) }
  }

  /// Those that are named: not so many that their names would touch.
  package var namedTicks: [Double] {
    let step = ticks.count > 5 ? 2 : 1
    return stride(from: 0, to: ticks.count, by: step).map { ticks[$0] }
  }

  package static func percent(_ share: Double) -> String {
    Number.text(100 * min(max(share, 0), 1), digits: 2) + "%"
  }
}

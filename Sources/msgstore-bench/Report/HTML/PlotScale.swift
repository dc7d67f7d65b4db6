#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The position of values along an axis, in percent.
///
/// Plots have no fixed size: everything in them is placed in percent. So they fit a phone and a
/// desktop without a script, and their text stays as large as other text.
package struct PlotScale {
  private let low: Double
  private let high: Double

  /// Creates a logarithmic axis from the power of ten below the least value to the one above the
  /// greatest.
  package init(powersOfTenAround values: [Double]) {
    let logarithms = values.filter { $0 > 0 }.map { log10($0) }
    low = (logarithms.min() ?? 0).rounded(.down)
    high = max((logarithms.max() ?? 1).rounded(.up), low + 1)
  }

  /// Returns the position of a value: 0 at the beginning of the axis, 1 at its end.
  package func share(_ value: Double) -> Double {
    value > 0 ? (log10(value) - low) / (high - low) : 0
  }

  package func percent(_ value: Double) -> String { Self.percent(share(value)) }

  /// The powers of ten on the axis.
  package var ticks: [Double] {
    stride(from: low, through: high, by: 1).map { pow(10, $0) }
  }

  /// The ticks that get labels: few enough that the labels do not touch.
  package var namedTicks: [Double] {
    let step = ticks.count > 5 ? 2 : 1
    return stride(from: 0, to: ticks.count, by: step).map { ticks[$0] }
  }

  package static func percent(_ share: Double) -> String {
    Number.text(100 * min(max(share, 0), 1), digits: 2) + "%"
  }
}

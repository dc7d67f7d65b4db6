// What the benchmark needs of Dispatch, whose own interface the toolchain has only in compiled form.

public class DispatchSemaphore {
  public init(value: Int) {}
  public func wait() {}
  @discardableResult public func signal() -> Int { 0 }
}

extension DispatchSemaphore: @unchecked Sendable {}

/// A value that is accessible only under its lock.
package final class Locked<Value>: @unchecked Sendable {
  // Unchecked: `value` is only touched under `lock`.
  private let lock: Lock
  private var value: Value

  #if INTERLEAVINGS
    package init(_ value: Value, file: StaticString = #fileID, line: Int = #line) {
      lock = Lock(file: file, line: line)
      self.value = value
    }
  #else
    package init(_ value: Value) {
      lock = Lock()
      self.value = value
    }
  #endif

  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}

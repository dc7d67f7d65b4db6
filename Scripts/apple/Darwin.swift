// The Swift half of the module that stands for Apple's `Darwin`: functions and values that C
// declares as variadic or as macros, and that Apple's module offers in these forms. Nothing of it
// ever runs.

@_exported import CDarwin

public var errno: Int32 {
  get { 0 }
  set {}
}

public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { -1 }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { -1 }

public func fcntl(_ descriptor: Int32, _ command: Int32) -> Int32 { -1 }
public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 { -1 }
public func fcntl(
  _ descriptor: Int32, _ command: Int32, _ record: UnsafeMutableRawPointer
) -> Int32 { -1 }

public var S_IFMT: mode_t { 0o170000 }
public var S_IFREG: mode_t { 0o100000 }
public var S_IFDIR: mode_t { 0o040000 }

public var CLOCK_REALTIME: clockid_t { _CLOCK_REALTIME }
public var CLOCK_MONOTONIC: clockid_t { _CLOCK_MONOTONIC }

public var SIG_DFL: sig_t? { nil }
public var SIG_IGN: sig_t { fatalError() }

public var environ: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> { fatalError() }

public var stderr: UnsafeMutablePointer<FILE>! { nil }

public func ioctl(
  _ descriptor: Int32, _ request: UInt, _ record: UnsafeMutableRawPointer
) -> Int32 { -1 }

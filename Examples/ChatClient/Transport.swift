/// How a client reaches its server: it asks, and gets an answer or none.
///
/// This is all that the client knows of the network. A real one has its HTTP requests behind it, and
/// the server's news come by a push.
public protocol Transport: Sendable {
  /// Asks the server something, and waits for the answer.
  func ask(_ request: Request) async throws(LinkError) -> Answer
}

/// Why there is no answer.
///
/// In both cases nobody knows whether the server has done what it was asked. That is why each request
/// that changes something has a token: it is asked again under the same one, and the server does it
/// once.
public enum LinkError: Error, Sendable {
  /// The server could not be reached, or the link broke before the answer.
  case noConnection
  /// The answer did not come in time.
  case timeOut
}

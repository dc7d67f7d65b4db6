public import Foundation
public import MsgStore
import Synchronization

/// A server in memory, with the habits of a real one and none of its size.
///
/// What a client relies on, it does: it gives every message a time and a number, it does what comes
/// under one token once however often that comes, and it keeps for everybody what they have to hear of.
/// What clients fear, it does too, when it is told to (`setFault(_:)`).
public final class PretendServer: Sendable {
  /// What goes wrong with one request.
  public enum Fault: Sendable {
    /// The link breaks before the server has the request.
    case loseRequest
    /// The server does what it is asked, and its answer is lost.
    case loseAnswer
    /// The server says no.
    case refuse(Refusal)
  }

  private struct State: Sendable {
    var world = ServerWorld()
    /// What was answered under each token; a real server forgets that after some days.
    var answers: [String: Answer] = [:]
    var fault: @Sendable (Request) -> Fault? = { _ in nil }
  }

  private let state = Mutex(State())
  private let clock: @Sendable () -> Timestamp

  /// A server where nothing has happened yet.
  ///
  /// - Parameter clock: Where its times come from: never from a client, whose clock may be wrong.
  public init(clock: @escaping @Sendable () -> Timestamp = StoreOptions.systemClock) {
    self.clock = clock
  }

  /// Says what goes wrong from now on; asked about each request, before it is looked at.
  public func setFault(_ fault: @escaping @Sendable (Request) -> Fault?) {
    state.withLock { $0.fault = fault }
  }

  /// Says how many messages of a conversation are told to somebody who has missed more.
  public func setToldCount(_ count: Int) { state.withLock { $0.world.toldCount = count } }

  /// Answers a request, or lets it get lost.
  public func answer(_ request: Request) throws(LinkError) -> Answer {
    // Outside of the lock: whoever plans faults may wait, or ask the server something.
    let fault = state.withLock { $0.fault }(request)
    switch fault {
    case .loseRequest: throw .noConnection
    case .refuse(let refusal): return .refused(refusal, "the server was told to refuse this")
    case .loseAnswer, nil: break
    }
    let answer = state.withLock { state in
      if let token = request.token, let known = state.answers[token] { return known }
      let answer = state.world.answer(request, at: clock().microseconds)
      if let token = request.token { state.answers[token] = answer }
      return answer
    }
    if case .loseAnswer = fault { throw .timeOut }
    return answer
  }

  /// The messages of a conversation as they were taken, in the server's order, for those who compare.
  public func messages(in room: ConversationID) -> [WireMessage] {
    state.withLock { $0.world.messages(in: room) }
  }

  /// The files that are there as a whole, by their URL.
  public var files: [String: Data] { state.withLock { $0.world.files } }
}

/// A client in the same process as the server.
public struct LocalTransport: Transport {
  private let server: PretendServer

  /// A link to a server that can always be reached, unless its faults say otherwise.
  public init(to server: PretendServer) { self.server = server }

  /// Has the server answer; see `Transport`.
  public func ask(_ request: Request) async throws(LinkError) -> Answer {
    try server.answer(request)
  }
}

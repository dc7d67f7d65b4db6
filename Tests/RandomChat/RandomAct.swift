package import MsgStore

/// One thing that somebody does.
package struct RandomAct {
  /// The answer to an act.
  package enum Outcome {
    case done(Any)
    case refused(StoreError)
  }

  package let name: String
  let confirms: Bool
  private let run: (borrowing StoreWriter, [PendingReceipt]) throws(StoreError) -> Any

  init<Answer>(
    _ name: String, _ run: @escaping (borrowing StoreWriter) throws(StoreError) -> Answer
  ) {
    self.name = name
    confirms = false
    self.run = { (writer, _) throws(StoreError) in try run(writer) }
  }

  /// The server has got some of the receipts that it was to get: those with a set bit.
  init(confirming chosen: UInt64, _ steps: (any OutboxSteps)?) {
    name = "confirm \(String(chosen & 0xFF, radix: 2))"
    confirms = true
    run = { (writer, pending) throws(StoreError) in
      for (index, receipt) in pending.enumerated() where chosen >> UInt64(index % 64) & 1 == 1 {
        _ = try steps?.confirm(receipt, by: writer)
      }
      return ()
    }
  }

  /// Does it, which may be refused.
  @discardableResult
  package func attempt(
    _ writer: borrowing StoreWriter, _ pending: [PendingReceipt]
  ) throws(StoreError) -> Outcome {
    do throws(StoreError) {
      return .done(try run(writer, pending))
    } catch {
      switch error {
      case .storage, .corruptRecord: throw error
      default: return .refused(error)
      }
    }
  }
}

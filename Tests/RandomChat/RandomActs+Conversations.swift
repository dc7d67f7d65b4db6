import MsgStore
import PageFile
import Simulation

/// What is done to whole conversations.
extension RandomActs {
  mutating func attributes(_ c: ConversationID) -> [RandomAct] {
    let (kind, isOn, time) = (below(16), random.chance(50), time())
    let (text, id, member, other) = (random.chance(70) ? text() : nil, id(), member(), member())
    switch kind {
    case 12...14: return [membership(c)]
    case 15: return [random.chance(60) ? listing() : retaining(c)]
    case 8:
      guard random.chance(isFull ? 8 : 30) else { return [] }
      return [
        RandomAct("deleteConversation \(c)") { w throws(StoreError) in
          try w.deleteConversation(c)
        }
      ]
    case 9:
      // Seldom nearly all there is.
      let end =
        isFull && random.chance(92)
        ? Timestamp(microseconds: 1_000_000 + Int64(below(1000))) : time
      return [
        RandomAct("receiveConversationDeletion \(c) at \(end)") { w throws(StoreError) in
          try w.receiveConversationDeletion(c, at: end)
        }
      ]
    case 0:
      return [
        RandomAct("setPinned \(c) \(isOn)") { w throws(StoreError) in
          try w.setPinned(isOn, of: c)
        }
      ]
    case 1:
      let end = random.chance(60) ? expiry() : nil
      return [
        RandomAct("setMuted \(c) \(isOn) until \(end.map { "\($0)" } ?? "-")") {
          w throws(StoreError) in try w.setMuted(isOn, of: c, until: end)
        }
      ]
    case 2:
      return [
        RandomAct("setArchived \(c) \(isOn)") { w throws(StoreError) in
          try w.setArchived(isOn, of: c)
        },
        RandomAct("setMarkedUnread \(c) \(!isOn)") { w throws(StoreError) in
          try w.setMarkedUnread(!isOn, of: c)
        },
      ]
    case 3:
      return [
        RandomAct("setDraft in \(c)") { w throws(StoreError) in
          try w.setDraft(text, replyTo: id, in: c)
        }
      ]
    case 4:
      return [
        RandomAct("setTitle of \(c)") { w throws(StoreError) in try w.setTitle(text, of: c) }
      ]
    case 5:
      return [
        RandomAct("putConversation \(c) [me, \(member), \(other)]") { w throws(StoreError) in
          try w.putConversation(c, participants: ["me", member, other])
        }
      ]
    case 6:
      return [
        RandomAct("addParticipants \(member) to \(c)") { w throws(StoreError) in
          try w.addParticipants([member], to: c)
        }
      ]
    case 10:
      guard random.chance(isFull ? 25 : 40) else { return [] }
      let name = Self.conversations[below(Self.conversations.count)]
      return [
        RandomAct("renameConversation \(c) to \(name)") { w throws(StoreError) in
          try w.renameConversation(c, to: name)
        }
      ]
    default:
      var received = ReceivedConversation(c, at: time)
      received.members = [.init(member, joinedAt: time), .init(other, isActive: false)]
      received.hasAllMembers = isOn
      received.createdBy = member
      received.createdAt = random.chance(50) ? time : nil
      if random.chance(30) {
        received.isMuted = random.chance(70)
        if random.chance(70) { received.mutedUntil = expiry() }
      }
      let conversation = received
      return [
        RandomAct("receive \(c) at \(time) with \(member), without \(other), all: \(isOn)") {
          w throws(StoreError) in try w.receive(conversation)
        }
      ]
    }
  }

  private mutating func membership(_ c: ConversationID) -> RandomAct {
    let (member, other) = (member(), member())
    switch below(4) {
    case 0:
      return RandomAct("leave \(c)") { w throws(StoreError) in try w.leave(c) }
    case 1...2:
      return RandomAct("removeParticipants \(member) of \(c)") { w throws(StoreError) in
        try w.removeParticipants([member], from: c)
      }
    default:
      return RandomAct("createGroup \(c) [\(member), \(other)]") { w throws(StoreError) in
        _ = try w.createGroup(c, participants: [member, other])
      }
    }
  }

  /// A rule for the history that is kept, or none.
  private mutating func retaining(_ c: ConversationID) -> RandomAct {
    let rule = random.chance(70) ? Retention(messageCount: 1 + below(idCount)) : nil
    let ofAll = random.chance(15)
    return RandomAct("setRetention \(rule?.messageCount ?? 0) of \(ofAll ? "all" : c)") {
      w throws(StoreError) in
      if ofAll { return try w.setRetention(rule ?? .everything) }
      try w.setRetention(rule, of: c)
    }
  }

  /// The server's list of conversations, or the end of a thread as it has it.
  private mutating func listing() -> RandomAct {
    let (time, c) = (time(), Self.conversations[below(Self.conversations.count)])
    if random.chance(50) {
      return RandomAct("reconcile [] in \(c), newest 2") { w throws(StoreError) in
        guard let last = try w.thread(c).tail(3).first(where: { $0.serverTimestamp != nil })
        else { return }
        try w.reconcile([last], in: c, within: .newest(count: 1))
      }
    }
    let listed = Self.conversations.filter { _ in random.chance(85) }
    return RandomAct("reconcile \(listed) at \(time)") { w throws(StoreError) in
      _ = try w.reconcile(listed.map { ReceivedConversation($0, at: time) })
    }
  }
}

import MsgStore

/// The attributes of a conversation, without its contents.
extension ExportedConversation: JSONObjectValue {
  static var noun: String { "a conversation" }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("id", &id)
    try fields.list("aliases", &aliases)
    try fields.optional("type", &kind)
    try fields.list("participants", &participants)
    try fields.list("members", &members)
    try fields.optional("members_ms", &completeAt)
    try fields.optional("title", &title)
    try fields.optional("title_ms", &titleAt)
    try fields.optional("avatar", &avatar)
    try fields.optional("avatar_ms", &avatarAt)
    try fields.optional("created_by", &createdBy)
    try fields.optional("created_ms", &createdAt)
    try fields.optional("since_ms", &since)
    try fields.flag("pinned", &isPinned)
    try fields.optional("pinned_ms", &pinnedAt)
    try fields.flag("muted", &isMuted)
    try fields.optional("muted_ms", &mutedAt)
    try fields.optional("muted_until_ms", &mutedUntil)
    try fields.flag("archived", &isArchived)
    try fields.optional("archived_ms", &archivedAt)
    try fields.flag("marked_unread", &isMarkedUnread)
    try fields.optional("marked_unread_ms", &markedUnreadAt)
    try fields.flag("deleted", &isHidden)
    try fields.optional("deleted_up_to_ms", &deletedUpTo)
    try fields.optional("retention", &retention)
    try fields.optional("pruned_up_to", &prunedUpTo)
    try fields.ownFields(&own)
  }
}

/// The rule for the history that is kept.
extension Retention: JSONObjectValue {
  static var noun: String { "a retention" }

  package init() { self = .everything }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    var (wideDays, wideCount) = (days.map(Int64.init), messageCount.map(Int64.init))
    try fields.optional("days", &wideDays)
    try fields.optional("messages", &wideCount)
    (days, messageCount) = (wideDays.map(Int.init(clamping:)), wideCount.map(Int.init(clamping:)))
  }
}

/// The facts about a member, and their time.
extension ExportedMember: JSONObjectValue {
  static var noun: String { "what is known of a member" }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("member", &member)
    try fields.required("time_ms", &time)
    try fields.flag("left", &hasLeft)
    try fields.optional("joined_ms", &joinedAt)
  }
}

/// A draft.
extension ExportedDraft: JSONObjectValue {
  static var noun: String { "a draft" }

  mutating func visit(_ fields: inout some JSONFieldVisitor) throws(StoreToolError) {
    try fields.required("conversation", &conversation)
    try fields.nullable("text", &text)
    try fields.optional("reply_to", &replyTo)
    try fields.required("time_ms", &time)
  }
}

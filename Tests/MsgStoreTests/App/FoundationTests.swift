import Foundation
import MsgStore
import MsgStoreFoundation
import MsgStoreTools
import MsgStoreToolsFoundation
import PageFile
import Testing

/// Conversions to Foundation's types, and the sentences of errors.
struct FoundationTests {
  @Test(arguments: [0, 1, -1, 1_700_000_000_123_456, -1_700_000_000_123_456] as [Int64])
  func aTimeComesBackFromADate(microseconds: Int64) {
    let time = Timestamp(microseconds: microseconds)
    #expect(Timestamp(time.date) == time)
    #expect(Timestamp(Date(time)) == time)
  }

  @Test func datesOutsideTheRangeAreClamped() {
    #expect(Timestamp(Date.distantFuture) > Timestamp(seconds: 60_000_000_000))
    #expect(Timestamp(Date(timeIntervalSince1970: .infinity)).microseconds == .max)
    #expect(Timestamp(Date(timeIntervalSince1970: -.infinity)).microseconds == .min)
    #expect(Timestamp(Date(timeIntervalSince1970: 1e300)).microseconds == .max)
    #expect(Timestamp(Date(timeIntervalSince1970: .nan)).microseconds == 0)
  }

  @Test func durationsAreIntervals() {
    #expect(Duration(1.5) == .milliseconds(1500))
    #expect(Duration(-0.25) == .milliseconds(-250))
    #expect(Duration.milliseconds(2250).timeInterval == 2.25)
    #expect(Duration(TimeInterval.nan) == .zero)
    #expect(Duration(TimeInterval.infinity) > .seconds(1_000_000_000))
  }

  @Test func localizedDescriptionIsTheSentence() {
    let errors: [any Error] = [
      StoreError.message(.notFound, "m", in: "room"), StoreError.noLocalMember,
      StoreError.storage(.diskFull), StoreToolError.noFolder(path: "/chat"),
      PageFileError.alreadyOpen(path: "/chat"),
    ]
    for error in errors { #expect(error.localizedDescription == "\(error)") }
    #expect(StoreError.storage(.diskFull).recoverySuggestion == "Free some space on the device.")
  }
}

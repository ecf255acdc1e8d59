import ChannelTestSupport
import Foundation
import LiveRing
import TestSupport
import Testing
import Tracker

@testable import Capture
@testable import Channel
@testable import Fetch
@testable import Support

/// A task that is canceled while a delivery is processed: nothing of that delivery is published, and the channel has not
/// failed.
@Suite struct CanceledChannelTests {
    @Test(
        "a channel is canceled in the middle of a delivery",
        arguments: [(CaptureFixture.clean, 1), (.clean, 3), (.demuxedAES128, 1), (.demuxedAES128, 3)])
    func nothingOfTheDeliveryIsPublished(fixture: CaptureFixture, number: Int) async throws {
        let task = Task { try await Self.relay(fixture, cancelingAt: number) }
        let (error, status, segments) = try await task.value
        #expect(error == .canceled)
        #expect(status.state != .failed && segments.after == segments.before)
    }

    /// Relays a capture, and cancels its own task before the delivery with that number.
    private static func relay(
        _ fixture: CaptureFixture, cancelingAt number: Int
    ) async throws -> (error: ChannelError?, status: RelayStatus, segments: (before: Int, after: Int)) {
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: spool) }
        let capture = try CaptureDirectory(fixture.directory)
        let configuration = RelayConfiguration(
            upstream: capture.index.upstream, giveUp: nil, spool: spool.path,
            retention: RetentionPolicy(rewind: nil, freeReserve: 0))
        let state = ChannelState(upstream: capture.index.upstream) { .zero }
        var relay = Relay(configuration, state: state, wallClock: { 0 })
        var responder = ReplayResponder(capture)
        var driver = ReplayDriver(
            session: ChannelSession(upstream: capture.index.upstream, policy: configuration.policy))
        var (deliveries, before) = (0, 0)
        do {
            _ = try await driver.run(until: capture.index.duration) {
                responder.answer($0, at: $1)
            } perform: { output, now in
                if case .delivery(let delivery) = output, case .segment = delivery.content { deliveries += 1 }
                if deliveries == number {
                    before = state.status.output.segments
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                }
                return try await relay.perform(output, at: now)
            }
        } catch let error as ChannelError {
            return (error, state.status, (before, state.status.output.segments))
        }
        return (nil, state.status, (before, state.status.output.segments))
    }
}

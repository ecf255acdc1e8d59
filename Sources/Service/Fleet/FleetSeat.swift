import ArchiveStore
import Channel
import Fleet
import Foundation
import LiveRing
import Logging
import Support

/// A channel's place in the fleet, for one run.
struct FleetSeat: Sendable {
    let member: FleetMember
    let channel: String

    /// Waits until this node owns the channel, and prepares the spool so that the ring continues where the channel's
    /// last owner stopped.
    /// - Parameters:
    ///   - liveWindow: the duration of the live playlist.
    ///   - archive: the channel's archive in a store, which has what the last owner published; nil: there is none.
    /// - Returns: the least number that this node publishes.
    func prepare(
        spool: String, liveWindow: Duration, archive: ChannelArchive?, logger: Logger
    ) async throws(FleetMember.Refusal) -> UInt64 {
        let grant = try await member.acquire(channel)
        do throws(RingError) {
            try await continueRing(grant, in: spool, liveWindow, archive, logger)
            return max(grant.base, grant.after.map { $0.number + 1 } ?? 0)
        } catch {
            member.recordEnd(of: channel)
            logger.error("The ring of the last owner cannot be continued: \(error.message)")
            throw .unavailable
        }
    }

    private func continueRing(
        _ grant: FleetMember.Grant, in spool: String, _ liveWindow: Duration, _ archive: ChannelArchive?,
        _ logger: Logger
    ) async throws(RingError) {
        guard let after = grant.after else { return }
        // This node published the newest entry itself, and its spool has it.
        if DVRRing.newestNumber(in: spool) == after.number { return }
        Self.clear(spool)
        let next = max(grant.base, after.number + 1)
        // Viewers who have not fetched the last segments find them in the playlist of this node.
        let window =
            next > after.number + 1
            ? nil
            : await archive?.restoreWindow(
                before: after.number, until: ProgramDateTime(millisecondsSince1970: after.end), lasting: liveWindow,
                to: spool)
        let isRead = try RingSeed.write(
            after.resume, next: next, after: window?.entries ?? [], declared: window?.declared ?? [], to: spool)
        if !isRead { logger.error("The record of the last owner cannot be read: the channel begins anew") }
        logger.info(
            """
            Continuing another node's channel: epoch=\(grant.epoch) after=\(after.number) next=\(next) \
            restored=\(window?.entries.count ?? 0)
            """)
    }

    /// Removes the files of a ring that another node has continued. The name of the archive's writer stays.
    private static func clear(_ spool: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: spool)) ?? [] where name != WriterName.file {
            try? FileManager.default.removeItem(atPath: "\(spool)/\(name)")
        }
    }

    /// Records whether the upstream answers this node.
    func recordUpstream(isAnswering: Bool) { member.recordUpstream(of: channel, isAnswering: isAnswering) }

    var permit: PublicationPermit {
        PublicationPermit { [member, channel] seed in
            let mark = PublishedMark(
                number: seed.number, discontinuity: seed.discontinuitySequence,
                end: seed.end.millisecondsSince1970, resume: seed.text)
            return await member.admit(
                mark, rate: seed.bitRate / 1000, isInBreak: seed.isInBreak, of: channel)
        }
    }
}

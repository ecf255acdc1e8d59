import Foundation
import LiveRing
import Playlist
import TestSupport

@testable import Demux
@testable import Media
@testable import Splice

/// Looks at every version of what is published, knowing what the script said, and says what is wrong with it.
struct SoakChecker {
    /// What is said at most: one defect is often found a thousand times.
    private static let mostFindings = 40

    private let script: SoakScript
    private(set) var findings: [String] = []
    private(set) var versions = 0
    private(set) var pictures = 0
    private(set) var segments = 0
    private(set) var gaps = 0
    /// Segments of the channel of which nothing was published, and of which only some pictures were, by what went wrong
    /// about then.
    private(set) var lost: [String: Int] = [:]
    private(set) var torn: [String: Int] = [:]
    private(set) var edges = LiveEdgeMonitor()
    /// Milliseconds by which the date of the edge was ahead of the channel's clock, and behind it, at most.
    private(set) var aheadOfClock = 0
    private(set) var behindClock = 0
    /// Milliseconds by which a segment's date lay before the end of the segment before it, at most.
    private(set) var mostBack = 0
    private var lastVersion: UInt64 = 0
    private var live: ParsedPlaylist?
    private var rewind: ParsedPlaylist?
    private var newest: RingEntry?
    private var lastPicture: FrameID?
    /// Pictures seen of the newest segment seen.
    private var seen = 0
    private(set) var removed = EvictionCheck()

    init(_ script: SoakScript) { self.script = script }

    mutating func look(at snapshot: RingSnapshot, at now: Duration) {
        let time = now.milliseconds
        guard snapshot.version != lastVersion else { return }
        lastVersion = snapshot.version
        guard let live = snapshot.livePlaylist, let rewind = snapshot.dvrPlaylist(.whole) else { return }
        versions += 1
        let sliding = ParsedPlaylist(String(decoding: live, as: UTF8.self))
        judge(sliding, before: self.live, of: "live", snapshot, at: time)
        let whole = ParsedPlaylist(String(decoding: rewind, as: UTF8.self))
        judge(whole, before: self.rewind, of: "dvr", snapshot, at: time)
        for complaint in removed.note(whole, before: self.rewind, snapshot, at: time) { find(complaint, at: time) }
        (self.live, self.rewind) = (sliding, whole)
        for entry in snapshot.index.listed.suffix(16)
        where newest.map({ $0.mediaSequence < entry.mediaSequence }) ?? true {
            append(entry, snapshot, at: time)
        }
        measureDate(snapshot, at: time)
    }

    private mutating func find(_ what: String, at time: Int) {
        guard findings.count < Self.mostFindings else { return }
        let before = script.fault(from: 0, to: time).map { ", \((time - $0.start) / 1000) s after \($0.kind) began" }
        let moment = "\(time / 3_600_000) h \(time / 60_000 % 60) min \(Double(time % 60_000) / 1000) s"
        findings.append("\(moment)\(before ?? ""): \(what)")
    }

    private mutating func judge(
        _ list: ParsedPlaylist, before: ParsedPlaylist?, of name: String, _ snapshot: RingSnapshot, at time: Int
    ) {
        var broken = brokenRules(in: list)
        if let before { broken += brokenRules(from: before, to: list) }
        // Withdrawn while a segment is listed that cannot be decoded alone, as it has to be.
        if !snapshot.index.listed.allSatisfy(\.isIndependent) { broken.removeAll { $0.hasPrefix("10:") } }
        for rule in broken { find("\(name).m3u8 breaks \(rule)", at: time) }
    }

    private mutating func measureDate(_ snapshot: RingSnapshot, at time: Int) {
        guard script.isDated, let edge = snapshot.edge else { return }
        let clock = SoakScript.epoch.millisecondsSince1970 + Int64(time)
        let ahead = Int(edge.programDateTimeEnd.millisecondsSince1970 - clock)
        aheadOfClock = max(aheadOfClock, ahead)
        behindClock = max(behindClock, -ahead)
    }
}

// MARK: - One segment after the other

extension SoakChecker {
    private mutating func append(_ entry: RingEntry, _ snapshot: RingSnapshot, at time: Int) {
        if let newest { compare(entry, with: newest, at: time) }
        if let complaint = edges.grew(by: Int(entry.duration / 90), script, at: time) { find(complaint, at: time) }
        if entry.isGap { gaps += 1 } else { read(entry, snapshot, at: time) }
        newest = entry
    }

    private mutating func compare(_ entry: RingEntry, with before: RingEntry, at time: Int) {
        if entry.mediaSequence != before.mediaSequence + 1 {
            find("segment \(entry.mediaSequence) comes behind \(before.mediaSequence)", at: time)
        }
        if entry.discontinuitySequence != before.discontinuitySequence + (entry.isDiscontinuous ? 1 : 0) {
            find("segment \(entry.mediaSequence) has a wrong discontinuity number", at: time)
        }
        let step = entry.programDateTime.millisecondsSince1970 - before.programDateTimeEnd.millisecondsSince1970
        mostBack = max(mostBack, -Int(step))
        if step < -999 || step > 999 && !entry.isDiscontinuous {
            find("segment \(entry.mediaSequence) is dated \(step) ms behind the end of the one before", at: time)
        }
    }

    private mutating func read(_ entry: RingEntry, _ snapshot: RingSnapshot, at time: Int) {
        let path = snapshot.path(of: entry.segment)
        guard let data = FileManager.default.contents(atPath: path), data.count == entry.segment.byteCount,
            let fragments = try? MovieFragment.fragments(of: Array(data))
        else { return find("segment \(entry.mediaSequence) cannot be read", at: time) }
        segments += 1
        for track in fragments.flatMap(\.tracks) {
            let isVideo = track.trackID == TrackID.video
            let mark = newest?.resumePoint
            let expected = isVideo ? mark?.videoDecodeTime : mark?.audioDecodeTime
            if let expected, expected > 0, track.decodeTime != expected {
                find(
                    "segment \(entry.mediaSequence), track \(track.trackID) decodes at \(track.decodeTime ?? 0), not at \(expected)",
                    at: time)
            }
            guard isVideo else { continue }
            for sample in track.samples { checkFrame(sample.payload, at: time) }
        }
    }

    private mutating func checkFrame(_ picture: ArraySlice<UInt8>, at time: Int) {
        pictures += 1
        guard let name = FrameID(picture) else { return }
        if let lastPicture, name <= lastPicture {
            return find("picture \(name.picture) of segment \(name.segment) comes behind \(lastPicture)", at: time)
        }
        if let lastPicture, lastPicture.segment < name.segment { settle(lastPicture.segment..<name.segment, at: time) }
        seen += 1
        lastPicture = name
    }

    /// These are over; `seen` is of the first.
    private mutating func settle(_ numbers: Range<Int>, at time: Int) {
        for number in numbers {
            defer { seen = 0 }
            let segment = script.segments[number]
            guard seen < segment.named else { continue }
            let fault = script.fault(from: segment.end - 25_000, to: segment.end + 30_000)
            let why = fault?.kind.rawValue ?? "nothing"
            if seen == 0 { lost[why, default: 0] += 1 } else { torn[why, default: 0] += 1 }
            guard fault == nil else { continue }
            find("\(segment.named - seen) of \(segment.named) pictures of segment \(number) are lost", at: time)
        }
    }
}

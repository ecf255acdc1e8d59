import Foundation
import LiveRing
import Playlist
import TestSupport

@testable import Demux
@testable import Media
@testable import Splice
@testable import Support

/// Checks every published version against the script.
struct SoakChecker {
    /// Largest number of findings, because one defect is often found many times.
    private static let maxFindings = 40

    private let script: SoakScript
    private(set) var findings: [String] = []
    private(set) var versions = 0
    private(set) var frames = 0
    private(set) var segments = 0
    private(set) var gaps = 0
    /// Upstream segments of which no frames, or only some frames, were published, by the fault near them.
    private(set) var lost: [String: Int] = [:]
    private(set) var partiallyLost: [String: Int] = [:]
    private(set) var liveEdge = LiveEdgeMonitor()
    /// Largest difference of the live edge's date to the channel's clock, ahead and late, milliseconds.
    private(set) var aheadOfClock = 0
    private(set) var lateToClock = 0
    /// Largest time by which a segment's date was before the end of the segment before it, milliseconds.
    private(set) var largestDateStepBack = 0
    private var lastVersion: UInt64 = 0
    private var live: ParsedPlaylist?
    private var rewind: ParsedPlaylist?
    private var newest: RingEntry?
    private var lastFrame: FrameID?
    /// Published frames of the newest upstream segment.
    private var publishedFrames = 0
    private(set) var eviction = EvictionCheck()

    init(_ script: SoakScript) { self.script = script }

    mutating func check(_ snapshot: RingSnapshot, at now: Duration) {
        let time = now.milliseconds
        guard snapshot.version != lastVersion else { return }
        lastVersion = snapshot.version
        guard let live = snapshot.livePlaylist(), let rewind = snapshot.dvrPlaylist(.whole) else { return }
        versions += 1
        let sliding = ParsedPlaylist(String(decoding: live, as: UTF8.self))
        check(sliding, before: self.live, of: "live", snapshot, at: time)
        let whole = ParsedPlaylist(String(decoding: rewind, as: UTF8.self))
        check(whole, before: self.rewind, of: "dvr", snapshot, at: time)
        for finding in eviction.record(whole, before: self.rewind, snapshot, at: time) { report(finding, at: time) }
        (self.live, self.rewind) = (sliding, whole)
        for entry in snapshot.index.listed.suffix(16)
        where newest.map({ $0.mediaSequence < entry.mediaSequence }) ?? true {
            append(entry, snapshot, at: time)
        }
        measureDate(snapshot, at: time)
    }

    private mutating func report(_ message: String, at time: Int) {
        guard findings.count < Self.maxFindings else { return }
        let before = script.fault(from: 0, to: time).map { ", \((time - $0.start) / 1000) s after \($0.kind) began" }
        let moment = "\(time / 3_600_000) h \(time / 60_000 % 60) min \(Double(time % 60_000) / 1000) s"
        findings.append("\(moment)\(before ?? ""): \(message)")
    }

    private mutating func check(
        _ playlist: ParsedPlaylist, before: ParsedPlaylist?, of name: String, _ snapshot: RingSnapshot, at time: Int
    ) {
        var broken = brokenRules(in: playlist)
        if let before { broken += brokenRules(from: before, to: playlist) }
        // EXT-X-INDEPENDENT-SEGMENTS must be absent while a dependent segment is listed.
        if !snapshot.index.listed.allSatisfy(\.isIndependent) { broken.removeAll { $0.hasPrefix("10:") } }
        for rule in broken { report("\(name).m3u8 breaks \(rule)", at: time) }
    }

    private mutating func measureDate(_ snapshot: RingSnapshot, at time: Int) {
        guard script.isDated, let edge = snapshot.newest else { return }
        let clock = script.epoch.millisecondsSince1970 + Int64(time)
        let ahead = Int(edge.programDateTimeEnd.millisecondsSince1970 - clock)
        aheadOfClock = max(aheadOfClock, ahead)
        lateToClock = max(lateToClock, -ahead)
    }
}

extension SoakChecker {
    private mutating func append(_ entry: RingEntry, _ snapshot: RingSnapshot, at time: Int) {
        if let newest { compare(entry, with: newest, at: time) }
        if let finding = liveEdge.record(duration: Int(entry.duration / 90), script, at: time) {
            report(finding, at: time)
        }
        if entry.isGap { gaps += 1 } else { read(entry, snapshot, at: time) }
        newest = entry
    }

    private mutating func compare(_ entry: RingEntry, with before: RingEntry, at time: Int) {
        if entry.mediaSequence != before.mediaSequence + 1 {
            report("segment \(entry.mediaSequence) follows \(before.mediaSequence)", at: time)
        }
        if entry.discontinuitySequence != before.discontinuitySequence + (entry.isDiscontinuous ? 1 : 0) {
            report("segment \(entry.mediaSequence) has a wrong discontinuity number", at: time)
        }
        let step = entry.programDateTime.millisecondsSince1970 - before.programDateTimeEnd.millisecondsSince1970
        largestDateStepBack = max(largestDateStepBack, -Int(step))
        if step < -999 || step > 999 && !entry.isDiscontinuous {
            report("segment \(entry.mediaSequence) is dated \(step) ms after the end of the segment before", at: time)
        }
    }

    private mutating func read(_ entry: RingEntry, _ snapshot: RingSnapshot, at time: Int) {
        let path = snapshot.path(of: entry.segment)
        guard let data = FileManager.default.contents(atPath: path), data.count == entry.segment.byteCount,
            let fragments = try? MovieFragment.fragments(of: Array(data))
        else { return report("segment \(entry.mediaSequence) cannot be read", at: time) }
        segments += 1
        for track in fragments.flatMap(\.tracks) {
            let isVideo = track.trackID == TrackID.video
            let resumePoint = newest?.resumePoint
            let expected = isVideo ? resumePoint?.videoDecodeTime : resumePoint?.audioDecodeTime
            if let expected, expected > 0, track.decodeTime != expected {
                report(
                    "segment \(entry.mediaSequence), track \(track.trackID) decodes at \(track.decodeTime ?? 0), not at \(expected)",
                    at: time)
            }
            guard isVideo else { continue }
            for sample in track.samples { checkFrame(sample.payload, at: time) }
        }
    }

    private mutating func checkFrame(_ sample: ArraySlice<UInt8>, at time: Int) {
        frames += 1
        guard let frame = FrameID(sample) else { return }
        if let lastFrame, frame <= lastFrame {
            return report("frame \(frame.frame) of segment \(frame.segment) follows \(lastFrame)", at: time)
        }
        if let lastFrame, lastFrame.segment < frame.segment {
            countLostFrames(in: lastFrame.segment..<frame.segment, at: time)
        }
        publishedFrames += 1
        lastFrame = frame
    }

    /// Counts the lost frames of upstream segments whose frames are all published. `publishedFrames` belongs to the first.
    private mutating func countLostFrames(in numbers: Range<Int>, at time: Int) {
        for number in numbers {
            defer { publishedFrames = 0 }
            let segment = script.segments[number]
            guard publishedFrames < segment.identifiedFrames else { continue }
            let fault = script.fault(from: segment.end - 25_000, to: segment.end + 30_000)
            let cause = fault?.kind.rawValue ?? "no fault"
            if publishedFrames == 0 { lost[cause, default: 0] += 1 } else { partiallyLost[cause, default: 0] += 1 }
            guard fault == nil else { continue }
            report(
                "\(segment.identifiedFrames - publishedFrames) of \(segment.identifiedFrames) frames of segment \(number) are lost",
                at: time)
        }
    }
}

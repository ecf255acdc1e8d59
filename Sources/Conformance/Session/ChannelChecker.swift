import Playlist
import Support

/// Which variants are followed: all, or the one with the highest BANDWIDTH.
package enum VariantsChecked: String, CaseIterable, Sendable { case all, max }

/// Judges a channel from the answers of its server, in the order in which they arrived: a pure value, without clock and
/// socket. It wants resources, and judges whatever comes.
package struct ChannelChecker: Sendable {
    package internal(set) var log: FindingLog
    package internal(set) var master: ScannedPlaylist?
    package internal(set) var streams: [CheckedStream] = []
    /// Why no media of the channel can be judged.
    package internal(set) var protection: String?
    package internal(set) var segmentCount = 0
    package internal(set) var byteCount = 0

    let url: String
    let choice: VariantsChecked
    var keys: [String: [UInt8]] = [:]
    /// Clear EXT-X-MAP sections.
    var sections: [ScannedMap: [UInt8]] = [:]
    /// The purposes of each wanted resource.
    var wanted: [CheckTarget.Resource: [CheckTarget.Kind]] = [:]
    var maps: [CheckTarget.Resource: ScannedMap] = [:]
    /// Segments that arrived before their key or section.
    var waiting: [(stream: Int, sequence: UInt64, body: [UInt8])] = []
    var hasCrossOrigin: (playlists: Bool, segments: Bool?) = (false, nil)
    private var hasPlaylist = false

    /// - Parameters:
    ///   - url: of the playlist that the check begins with.
    ///   - excluded: rules that are not judged.
    package init(url: String, variants: VariantsChecked = .all, excluded: Set<Rule> = []) {
        self.url = URIReference.withoutFragment(url)
        choice = variants
        log = FindingLog(excluded: excluded)
    }

    /// Whether an answer is for a playlist of the channel, or for something that was wanted.
    package func knows(_ answer: CheckedAnswer) -> Bool {
        let resource = CheckTarget.Resource(url: answer.url, byteRange: answer.byteRange)
        return resource.url == url || wanted[resource] != nil
            || streams.contains { URIReference.withoutFragment($0.url) == resource.url }
    }

    /// Judges an answer.
    /// - Returns: resources that are wanted next, playlists first, then keys and sections, then segments.
    package mutating func handle(_ answer: CheckedAnswer) -> [CheckTarget] {
        let resource = CheckTarget.Resource(url: answer.url, byteRange: answer.byteRange)
        if let index = streams.firstIndex(where: { URIReference.withoutFragment($0.url) == resource.url }) {
            return handlePlaylist(answer, stream: index)
        }
        if resource.url == url, !hasPlaylist { return handleFirst(answer) }
        if resource.url == url, master != nil {
            TransferRules.judge(answer, as: .playlist, of: url, into: &log)
            return []
        }
        guard let kinds = wanted[resource] else { return [] }
        for kind in kinds { handle(answer, as: kind, resource) }
        judgeWaiting()
        return []
    }

    // MARK: - Playlists

    private mutating func handleFirst(_ answer: CheckedAnswer) -> [CheckTarget] {
        guard answer.isSuccess, (try? PlaylistLines(playlist: answer.body)) != nil else { return [] }
        TransferRules.judge(answer, as: .playlist, of: url, into: &log)
        hasPlaylist = true
        hasCrossOrigin.playlists = answer.header("access-control-allow-origin") != nil
        let playlist = PlaylistScanner.scan(answer.body, url: answer.finalURL)
        guard playlist.isMultivariant else {
            streams = [CheckedStream(url: url, role: .alone, type: "VIDEO")]
            return handlePlaylist(answer, stream: 0, isTransferJudged: true)
        }
        master = playlist
        for rule in playlist.judged { log.recordJudgement(rule) }
        for problem in playlist.problems {
            log.add(
                problem.rule, problem.cause, level: problem.level, of: url,
                at: FindingPlace(uri: playlist.url, line: problem.line), problem.message)
        }
        openStreams(of: playlist)
        return streams.indices.map { CheckTarget(.playlist($0), url: streams[$0].url) }
    }

    private mutating func openStreams(of playlist: ScannedPlaylist) {
        var indices = Array(playlist.variants.indices)
        if choice == .max {
            let video = indices.filter { !playlist.variants[$0].isIFrames }
            indices =
                video.max { (playlist.variants[$0].bandwidth ?? 0) < (playlist.variants[$1].bandwidth ?? 0) }
                .map { [$0] } ?? []
        }
        let groups = Set(
            indices.flatMap { index in
                ["AUDIO", "VIDEO", "SUBTITLES"].compactMap { type in
                    playlist.variants[index].attributes[type].map { "\(type)/\($0)" }
                }
            })
        for index in indices {
            let variant = playlist.variants[index]
            open(variant.uri, variant.isIFrames ? .iFrames(index) : .variant(index), type: "VIDEO")
        }
        for (index, rendition) in playlist.renditions.enumerated() {
            guard let uri = rendition.uri, groups.contains("\(rendition.type)/\(rendition.group)") || choice == .all
            else { continue }
            open(uri, .rendition(index), type: rendition.type)
        }
    }

    private mutating func open(_ uri: String, _ role: StreamRole, type: String) {
        let url = URIReference.withoutFragment(uri)
        guard !streams.contains(where: { $0.url == url }) else { return }
        streams.append(CheckedStream(url: url, role: role, type: type))
    }

    private mutating func handlePlaylist(
        _ answer: CheckedAnswer, stream index: Int, isTransferJudged: Bool = false
    ) -> [CheckTarget] {
        let target = streams[index].playlist.current.flatMap { $0.isLive ? $0.targetDuration : nil }
            .map { Duration.seconds($0) }
        let stream = streams[index].url
        if !isTransferJudged {
            TransferRules.judge(answer, as: .playlist, of: stream, liveTarget: target, into: &log)
        }
        guard answer.isSuccess else {
            if let refusal = answer.refusal { judgeRefusal(refusal, stream, answer) }
            return []
        }
        if (try? PlaylistLines(playlist: answer.body)) == nil {
            log.add(
                .transfers, "not-playlist", of: stream,
                at: FindingPlace(uri: answer.url, moment: answer.time.received),
                "\(DocumentKind(foreign: answer.body)?.description ?? "something else") came in place of the playlist")
            return []
        }
        let new = streams[index].playlist.append(
            answer.body, imported: master?.variables ?? [], finalURL: answer.finalURL, at: answer.time,
            age: answer.age, into: &log)
        if isTransferJudged, let current = streams[index].playlist.current, current.isLive,
            let seconds = current.targetDuration, answer.status != nil
        {
            TransferRules.judgeCaching(answer, liveTarget: .seconds(seconds), of: stream, into: &log)
        }
        streams[index].media.targetDuration = .seconds(streams[index].playlist.current?.targetDuration ?? 10)
        streams[index].media.isIndependent =
            streams[index].playlist.current?.hasIndependentSegments == true || master?.hasIndependentSegments == true
        return targets(of: new, stream: index)
    }

    private mutating func judgeRefusal(_ refusal: String, _ stream: String, _ answer: CheckedAnswer) {
        log.add(
            .transfers, answer.status.map { "status-\($0)" } ?? "no-file",
            level: [401, 403, 429].contains(answer.status) ? .note : .must, of: stream,
            at: FindingPlace(uri: answer.url, moment: answer.time.received), "the playlist \(refusal)")
    }

    /// The resources that new segments need.
    private mutating func targets(of segments: [ScannedSegment], stream index: Int) -> [CheckTarget] {
        var targets: [CheckTarget] = []
        var isKnown: Set<CheckTarget.Resource> = []
        func want(_ target: CheckTarget, _ checker: inout ChannelChecker) {
            let isNew = checker.wanted[target.resource] == nil
            checker.wanted[target.resource, default: []].append(target.kind)
            if isNew, isKnown.insert(target.resource).inserted { targets.append(target) }
        }
        for segment in segments {
            if let method = segment.protection {
                protection = protection ?? method
                continue
            }
            guard !segment.isGap, !segment.uri.isEmpty else { continue }
            for key in Set([segment.key, segment.map?.key].compactMap(\.self))
            where wanted[.init(url: key.uri, byteRange: nil)] == nil {
                want(CheckTarget(.key, url: key.uri), &self)
            }
            if let map = segment.map {
                let target = CheckTarget(.map, url: map.uri, byteRange: map.byteRange)
                if maps[target.resource] == nil { want(target, &self) }
                maps[target.resource] = map
            }
            want(
                CheckTarget(
                    .segment(stream: index, sequence: segment.sequence), url: segment.uri, byteRange: segment.byteRange,
                    duration: segment.duration), &self)
        }
        return targets + assetTargets(stream: index)
    }

    /// The resources that interstitials need.
    private mutating func assetTargets(stream index: Int) -> [CheckTarget] {
        guard let playlist = streams[index].playlist.current else { return [] }
        var targets: [CheckTarget] = []
        for scanned in playlist.dateRanges where scanned.range.isInterstitial {
            let attributes = scanned.range.attributes
            let found: [(CheckTarget.Kind, String?)] = [
                (.assets, attributes["X-ASSET-LIST"]), (.asset, attributes["X-ASSET-URI"]),
            ]
            for (kind, reference) in found {
                guard let reference, !reference.isEmpty else { continue }
                let target = CheckTarget(kind, url: URIReference.resolve(reference, against: playlist.url))
                guard wanted[target.resource] == nil else { continue }
                wanted[target.resource] = [kind]
                targets.append(target)
            }
        }
        return targets
    }
}

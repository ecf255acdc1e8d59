import Fetch
package import LiveRing
import Support

/// Decides what is put into a store next.
///
/// Segments wait in the spool. Consecutive ones are joined into an object, and the index of their hour is put again once
/// in a while. A segment is in the archive when an index that names it is. A restart continues after the last such index,
/// so that some objects are put twice, under the same names.
package struct ArchiveUpload: Equatable, Sendable {
    package struct Policy: Equatable, Sendable {
        /// The media of an object; zero: each file is an object of its own.
        package var objectDuration = Duration.seconds(10)
        /// The bytes above which no further segment is joined.
        package var objectBytes = 16 << 20
        /// The time after which the index of a growing hour is put again.
        package var indexInterval = Duration.seconds(60)
        /// The time after which segments are put although their object could have more.
        package var longestWait = Duration.seconds(30)
        /// Segments of an index: an hour of one second each.
        package var indexLimit = 3600

        /// The longest time that a store may ask for before the next attempt.
        package var longestPause = Duration.seconds(120)

        package init() {}
    }

    package enum Step: Equatable, Sendable {
        /// Find the last index that this writer put.
        case findEnd(writer: String)
        case putShared(SpoolFile)
        /// Put files one after the other, as an object that is named by their digest.
        case putObject([SpoolFile], in: IndexKey)
        case putIndex(IndexKey, ArchiveIndex)
    }

    package enum Input: Equatable, Sendable {
        /// The newest index of this writer, which `findEnd` found. Where there is none, `findEnd` is finished.
        case foundEnd(IndexKey, ArchiveIndex)
        case foundNothing
        /// Segments were published, in order. `like` has the head of their index.
        case published([RingEntry], like: ArchiveIndex)
        /// The files of segments before a number have left the spool.
        case evicted(before: UInt64)
        /// The step succeeded; an object got a name.
        case done(object: String? = nil)
        /// A file of the step has left the spool, or cannot be read.
        case lost
        case failed(retryAfter: Duration?)
        case tick
        /// Nothing more is published: what is left is put at once.
        case closing
    }

    package struct Counts: Equatable, Sendable {
        package internal(set) var storedSegments = 0
        package internal(set) var storedBytes: UInt64 = 0
        /// Segments whose files left the spool before they were put.
        package internal(set) var lostSegments = 0
        package internal(set) var objects = 0
    }

    private enum State: Equatable, Sendable {
        case ready
        case working(Step)
        case pausing(until: Duration)
    }

    fileprivate struct Pending: Equatable, Sendable {
        let entry: RingEntry
        let since: Duration
        var isLost = false
    }

    /// Segments that are put now.
    fileprivate struct Group: Equatable, Sendable {
        var entries: [Pending]
        var shared: [SpoolFile]
        /// The files of objects that are still to be put.
        var files: [[SpoolFile]]
        var objects: [ArchiveIndex.Object] = []
    }

    /// The index that grows.
    private struct Part: Equatable, Sendable {
        let key: IndexKey
        var index: ArchiveIndex
        /// When it first got a segment that the store's copy does not have; nil if that is whole.
        var changedSince: Duration?
    }

    /// Shared files that are known to be stored: more are put again.
    private static let sharedLimit = 256

    let policy: Policy
    private let writer: String
    private var state = State.ready
    private var hasFoundEnd = false
    private var pending: [Pending] = []
    private var group: Group?
    private var part: Part?
    private var template: ArchiveIndex?
    private var sharedNames: Set<String> = []
    private var backoff = Backoff()
    private var isClosing = false
    package private(set) var counts = Counts()
    /// The number after the last segment that was published.
    package private(set) var nextMediaSequence: UInt64 = 0

    package init(_ policy: Policy = Policy(), writer: String) { (self.policy, self.writer) = (policy, writer) }

    /// Segments that are in no index yet.
    package var pendingSegments: Int { pending.count + (group?.entries.count ?? 0) }

    /// Whether all that was published is in an index.
    package var isFinished: Bool { hasFoundEnd && pendingSegments == 0 && part?.changedSince == nil }

    /// When `tick` has an effect; nil if nothing but another input has one.
    package var wakeTime: Duration? {
        switch state {
        case .working: nil
        case .pausing(let until): until
        case .ready:
            [part?.changedSince.map { $0 + policy.indexInterval }, pending.first.map { $0.since + policy.longestWait }]
                .compactMap(\.self).min()
        }
    }

    /// - Returns: what is to be done now; nil if a step is being carried out, or nothing is to be done.
    package mutating func handle(_ input: Input, at now: Duration) -> Step? {
        switch input {
        case .published(let entries, let like): append(entries, like: like, at: now)
        case .evicted(let number): evict(before: number)
        case .foundEnd(let key, let index): finish(nil, at: now) { $0.resume(key, index) }
        case .foundNothing: finish(nil, at: now) { $0.hasFoundEnd = true }
        case .done(let object): finish(object, at: now)
        case .lost:
            group?.loseAll()
            state = .ready
        case .failed(let retryAfter):
            state = .pausing(until: now + max(backoff.next(), min(retryAfter ?? .zero, policy.longestPause)))
            dissolveGroup()
        case .tick, .closing:
            isClosing = isClosing || input == .closing
            if case .pausing(let until) = state, until <= now { state = .ready }
        }
        guard state == .ready, let step = nextStep(at: now) else { return nil }
        state = .working(step)
        return step
    }

    private mutating func append(_ entries: [RingEntry], like: ArchiveIndex, at now: Duration) {
        template = like
        for entry in entries where entry.mediaSequence >= nextMediaSequence {
            pending.append(Pending(entry: entry, since: now))
            nextMediaSequence = entry.mediaSequence + 1
        }
    }

    private mutating func evict(before number: UInt64) {
        for index in pending.indices {
            guard pending[index].entry.mediaSequence < number else { return }
            pending[index].isLost = true
        }
    }

    /// Lets segments wait again of which nothing is put, because some of their files may leave the spool meanwhile.
    private mutating func dissolveGroup() {
        guard let group, group.objects.isEmpty else { return }
        pending.insert(contentsOf: group.entries, at: 0)
        self.group = nil
    }

    private mutating func resume(_ key: IndexKey, _ index: ArchiveIndex) {
        hasFoundEnd = true
        part = Part(key: key, index: index)
        guard let last = index.entries.last?.mediaSequence else { return }
        pending.removeAll { $0.entry.mediaSequence <= last }
        nextMediaSequence = max(nextMediaSequence, last + 1)
    }

    private mutating func finish(_ object: String?, at now: Duration, _ apply: (inout Self) -> Void = { _ in }) {
        guard case .working(let step) = state else { return }
        (state, backoff) = (.ready, Backoff())
        switch step {
        case .findEnd: apply(&self)
        case .putShared(let file):
            if sharedNames.count >= Self.sharedLimit { sharedNames = [] }
            sharedNames.insert(file.name)
        case .putObject(let files, _):
            group?.files.removeFirst()
            if let object { group?.objects.append(ArchiveIndex.Object(name: object, files: files)) }
            counts.objects += 1
        case .putIndex: part?.changedSince = nil
        }
    }

    private mutating func nextStep(at now: Duration) -> Step? {
        guard hasFoundEnd else { return .findEnd(writer: writer) }
        while let next = group ?? nextGroup(at: now) {
            group = next
            guard let part = part(for: next.entries[0].entry) else {
                return self.part.map { .putIndex($0.key, $0.index) }
            }
            if let file = next.shared.first(where: { !sharedNames.contains($0.name) }) { return .putShared(file) }
            if let files = next.files.first { return .putObject(files, in: part.key) }
            complete(next, at: now)
        }
        guard let part, let since = part.changedSince, isClosing || since + policy.indexInterval <= now else {
            return nil
        }
        return .putIndex(part.key, part.index)
    }

    /// The index that an entry belongs to, which is begun if need be; nil if the one before has to be put first.
    private mutating func part(for entry: RingEntry) -> Part? {
        let hour = IndexKey.hour(of: entry.programDateTime)
        if let part, part.key.hour == hour, part.index.entries.count < policy.indexLimit { return part }
        guard part?.changedSince == nil, let template else { return nil }
        let key = IndexKey(hour: hour, writer: writer, firstMediaSequence: entry.mediaSequence)
        part = Part(key: key, index: template)
        return part
    }

    /// The oldest segments of one hour that are enough for an object; nil if more of them are awaited.
    private mutating func nextGroup(at now: Duration) -> Group? {
        guard let first = pending.first else { return nil }
        let hour = IndexKey.hour(of: first.entry.programDateTime)
        let used = part.map { $0.key.hour == hour ? $0.index.entries.count : 0 } ?? 0
        let room = policy.indexLimit - (used < policy.indexLimit ? used : 0)
        var (count, duration, bytes) = (0, Duration.zero, 0)
        var isWhole = isClosing || now - first.since >= policy.longestWait
        for next in pending.prefix(room) {
            let size = next.entry.ownFiles.reduce(0) { $0 + $1.byteCount }
            guard IndexKey.hour(of: next.entry.programDateTime) == hour,
                count == 0 || bytes + size <= policy.objectBytes
            else {
                isWhole = true
                break
            }
            (count, duration, bytes) = (count + 1, duration + .milliseconds(next.entry.duration / 90), bytes + size)
            isWhole = isWhole || duration >= policy.objectDuration || count == room
            if duration >= policy.objectDuration { break }
        }
        guard isWhole else { return nil }
        let entries = Array(pending.prefix(count))
        pending.removeFirst(count)
        return Group(entries, joins: policy.objectDuration > .zero)
    }

    private mutating func complete(_ group: Group, at now: Duration) {
        for next in group.entries {
            part?.index.append(next.entry, isLost: next.isLost)
            if next.isLost, !next.entry.isGap { counts.lostSegments += 1 }
            guard !next.isLost, !next.entry.isGap else { continue }
            counts.storedSegments += 1
            counts.storedBytes += UInt64(next.entry.ownFiles.reduce(0) { $0 + $1.byteCount })
        }
        for object in group.objects { part?.index.append(object) }
        if part?.changedSince == nil { part?.changedSince = now }
        self.group = nil
    }
}

extension ArchiveUpload.Group {
    init(_ entries: [ArchiveUpload.Pending], joins: Bool) {
        self.entries = entries
        let kept = entries.filter { !$0.isLost && !$0.entry.isGap }
        var names: Set<String> = []
        shared = kept.flatMap(\.entry.sharedFiles).filter { names.insert($0.name).inserted }
        let own = kept.flatMap(\.entry.ownFiles)
        files = joins ? (own.isEmpty ? [] : [own]) : own.map { [$0] }
    }

    /// Counts all segments as lost whose files are not put yet: an object of some of them has no use.
    fileprivate mutating func loseAll() {
        let stored = Set(objects.flatMap(\.files).map(\.name))
        for index in entries.indices where !entries[index].entry.ownFiles.allSatisfy({ stored.contains($0.name) }) {
            entries[index].isLost = true
        }
        (shared, files) = ([], [])
    }
}

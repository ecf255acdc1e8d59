import Fetch
package import LiveRing
package import Support

/// Decides which object or index is put into a store next.
///
/// Segments wait in the spool. Consecutive segments are joined into an object, and the index of their hour is put again
/// at intervals. A segment is in the archive once an index names it. A restart continues after the last such index, so
/// some objects are put twice, under the same names. Segments that leave the spool earlier are in no index: readers
/// list gaps for their numbers.
package struct ArchiveUpload: Equatable, Sendable {
    package struct Policy: Equatable, Sendable {
        /// The duration of an object; zero: each file is an object of its own.
        package var objectDuration = Duration.seconds(10)
        /// Largest object made of several segments, in bytes.
        package var objectBytes = 16 << 20
        /// The time after which the index of a growing hour is put again.
        package var indexInterval = Duration.seconds(60)
        /// The longest time that segments wait for others to join their object.
        package var longestWait = Duration.seconds(30)
        /// The most segments in an index: one hour at one second each.
        package var indexLimit = 3600
        /// The size of an index's records, in bytes, above which the next segments get an index of their own. A growing
        /// index is put again each minute; this limits the requests for an hour to 8 MB, however short the segments
        /// are.
        package var indexBytes = 256 << 10

        /// The number of the first segment that is put. The segments before it are another relay's.
        package var beginning: UInt64 = 0

        /// The longest pause that a store may ask for before the next attempt.
        package var longestPause = Duration.seconds(120)

        package init() {}
    }

    package enum Step: Equatable, Sendable {
        /// Find the last index that this writer put and that can be read.
        case findEnd(writer: String)
        /// Begin to use a name that no other writer uses.
        case takeName(NameChange)
        case putShared(SpoolFile)
        /// Put files one after the other as one object, named by its digest.
        case putObject([SpoolFile], in: IndexKey)
        case putIndex(IndexKey, ArchiveIndex)
    }

    /// Why a writer needs another name.
    package enum NameChange: Equatable, Sendable {
        /// Another process uses the name: its spool is a copy of this one.
        case taken
        /// The spool's numbers are lower than the numbers in the name's indexes.
        case countsAnew
    }

    package enum Input: Equatable, Sendable {
        /// The newest index of this writer, which `findEnd` found. If there is none, the step `findEnd` is `done`.
        /// - Parameter next: the number of the ring's next segment.
        case foundEnd(IndexKey, ArchiveIndex, next: UInt64)
        case foundNothing
        /// Another process has put something under the writer's name since this one began.
        case taken
        /// The new name of the writer: lowercase letters and digits.
        case named(String)
        /// Segments were published, in order. `like` has the head of their index.
        case published([RingEntry], like: ArchiveIndex)
        /// The files of segments with lower numbers have left the spool.
        case evicted(before: UInt64)
        /// The step succeeded; an object got a name.
        case done(object: String? = nil)
        /// A file of the step has left the spool or cannot be read.
        case lost
        case failed(retryAfter: Duration?)
        case tick
        /// Nothing more will be published. The remaining segments are put at once.
        case closing
    }

    package struct Counts: Equatable, Sendable {
        package internal(set) var storedSegments = 0
        package internal(set) var storedBytes: UInt64 = 0
        /// Segments whose files left the spool before they were put.
        package internal(set) var lostSegments = 0
    }

    /// Segments that will not be in the archive. Some segments between them may be.
    package struct Loss: Equatable, Sendable {
        /// Counts the losses of the upload.
        package let number: Int
        package internal(set) var segments = 0
        /// Media sequence numbers.
        package let first: UInt64
        package internal(set) var last: UInt64
        package let start: ProgramDateTime
        package internal(set) var end: ProgramDateTime
        /// Whether the store has caught up since the loss.
        package internal(set) var isOver = false
    }

    private enum State: Equatable, Sendable {
        case ready
        case working(Step)
        case pausing(until: Duration)
    }

    /// The first segment to be put.
    private struct Origin: Equatable, Sendable {
        let mediaSequence: UInt64
        let date: ProgramDateTime
    }

    /// The segments that are being put: the first pending ones.
    fileprivate struct Group: Equatable, Sendable {
        let entries: [RingEntry]
        /// The numbers of the segments whose files cannot be read.
        var lost: Set<UInt64> = []
        var shared: [SpoolFile]
        /// The files of objects that are still to be put.
        var files: [[SpoolFile]]
        var objects: [ArchiveIndex.Object] = []
    }

    /// The growing index.
    private struct Part: Equatable, Sendable {
        let key: IndexKey
        var index: ArchiveIndex
        /// When the index got its first segment that is missing in the store's copy; nil if the copy is complete.
        var changedSince: Duration?
    }

    /// The most shared files that are remembered as stored; others are put again.
    private static let sharedLimit = 256

    let policy: Policy
    package private(set) var writer: String
    private var state = State.ready
    private var hasFoundEnd = false
    /// Why the writer needs another name; nil if it does not.
    private var nameChange: NameChange?
    /// The segments that are in no index yet. Their files are in the spool, whose limits bound their number.
    private var pending = RingEntries()
    /// When the first pending segment began to wait for others.
    private var pendingSince = Duration.zero
    private var origin: Origin?
    private var group: Group?
    private var part: Part?
    private var template: ArchiveIndex?
    private var sharedNames: Set<String> = []
    private var backoff = Backoff()
    private var isClosing = false
    package private(set) var counts = Counts()
    /// The newest loss.
    package private(set) var loss: Loss?
    /// The number after the last segment that was published.
    package private(set) var nextMediaSequence: UInt64 = 0

    package init(_ policy: Policy = Policy(), writer: String) {
        (self.policy, self.writer, nextMediaSequence) = (policy, writer, policy.beginning)
    }

    package var pendingSegments: Int { pending.count }

    /// Whether an index contains every published segment.
    package var isFinished: Bool { hasFoundEnd && pendingSegments == 0 && part?.changedSince == nil }

    /// - Returns: the next step; nil while a step is in progress, or if nothing is to be done.
    package mutating func handle(_ input: Input, at now: Duration) -> Step? {
        switch input {
        case .published(let entries, let like): append(entries, like: like, at: now)
        case .evicted(let number): evict(before: number)
        case .foundEnd(let key, let index, let next): finish(nil, at: now) { $0.resume(key, index, next: next) }
        case .foundNothing: finish(nil, at: now) { $0.begin() }
        case .taken:
            nameChange = .taken
            state = .ready
        case .named(let name): finish(nil, at: now) { $0.begin(as: name) }
        case .done(let object): finish(object, at: now)
        case .lost:
            group?.loseAll()
            state = .ready
        case .failed(let retryAfter):
            state = .pausing(until: now + max(backoff.next(), min(retryAfter ?? .zero, policy.longestPause)))
            // Some files of the group may leave the spool during the wait.
            group = nil
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
            if pending.isEmpty { pendingSince = now }
            if origin == nil { origin = Origin(mediaSequence: entry.mediaSequence, date: entry.programDateTime) }
            pending.append(entry)
            nextMediaSequence = entry.mediaSequence + 1
        }
    }

    /// Counts the pending segments before a number as lost. Until the end is found, the store may contain them.
    private mutating func evict(before number: UInt64) {
        guard group == nil else { return }
        let evicted = pending.prefix { $0.mediaSequence < number }
        if hasFoundEnd { for entry in evicted where !entry.isGap { lose(entry) } }
        pending.removeFirst(evicted.count)
    }

    private mutating func lose(_ entry: RingEntry) {
        lose(1, entry.mediaSequence...entry.mediaSequence, from: entry.programDateTime, to: entry.programDateTimeEnd)
    }

    private mutating func lose(
        _ count: Int, _ numbers: ClosedRange<UInt64>, from start: ProgramDateTime, to end: ProgramDateTime
    ) {
        counts.lostSegments += count
        if loss?.isOver ?? true {
            loss = Loss(
                number: (loss?.number ?? 0) + 1, first: numbers.lowerBound, last: numbers.upperBound, start: start,
                end: end)
        }
        loss?.segments += count
        loss?.last = numbers.upperBound
        loss?.end = end
    }

    /// Continues after the last segment of an index, unless the ring's numbers do not continue it.
    private mutating func resume(_ key: IndexKey, _ index: ArchiveIndex, next: UInt64) {
        if let last = index.entries.last {
            guard last.mediaSequence < next else {
                nameChange = .countsAnew
                hasFoundEnd = true
                return
            }
            origin = Origin(
                mediaSequence: max(last.mediaSequence + 1, policy.beginning), date: last.programDateTimeEnd)
        }
        part = Part(key: key, index: index)
        begin()
    }

    /// Begins under another name. The growing index is put again under the new name, because another process may have
    /// replaced it.
    private mutating func begin(as name: String) {
        (writer, nameChange) = (name, nil)
        guard let old = part else { return }
        let key = IndexKey(hour: old.key.hour, writer: name, firstMediaSequence: old.key.firstMediaSequence)
        part = Part(key: key, index: old.index, changedSince: old.changedSince ?? .zero)
    }

    /// Begins with the segment of `origin`. Segments from there on that the spool no longer contains are lost.
    private mutating func begin() {
        hasFoundEnd = true
        guard let origin else { return }
        pending.removeFirst(pending.prefix { $0.mediaSequence < origin.mediaSequence }.count)
        nextMediaSequence = max(nextMediaSequence, origin.mediaSequence)
        let next = pending.first?.mediaSequence ?? nextMediaSequence
        guard next > origin.mediaSequence else { return }
        lose(
            Int(clamping: next - origin.mediaSequence), origin.mediaSequence...next - 1, from: origin.date,
            to: max(pending.first?.programDateTime ?? origin.date, origin.date))
    }

    private mutating func finish(_ object: String?, at now: Duration, _ apply: (inout Self) -> Void = { _ in }) {
        guard case .working(let step) = state else { return }
        (state, backoff) = (.ready, Backoff())
        switch step {
        case .findEnd, .takeName: apply(&self)
        case .putShared(let file):
            if sharedNames.count >= Self.sharedLimit { sharedNames = [] }
            sharedNames.insert(file.name)
        case .putObject(let files, _):
            group?.files.removeFirst()
            if let object { group?.objects.append(ArchiveIndex.Object(name: object, files: files)) }
        case .putIndex: part?.changedSince = nil
        }
    }

    private mutating func nextStep(at now: Duration) -> Step? {
        if let nameChange { return .takeName(nameChange) }
        guard hasFoundEnd else { return .findEnd(writer: writer) }
        while let next = group ?? nextGroup(at: now) {
            group = next
            guard let part = part(for: next.entries[0]) else {
                return self.part.map { .putIndex($0.key, $0.index) }
            }
            if let file = next.shared.first(where: { !sharedNames.contains($0.name) }) { return .putShared(file) }
            if let files = next.files.first { return .putObject(files, in: part.key) }
            complete(next, at: now)
        }
        loss?.isOver = true
        guard let part, let since = part.changedSince, isClosing || since + policy.indexInterval <= now else {
            return nil
        }
        return .putIndex(part.key, part.index)
    }

    /// The index that an entry belongs to, begun if necessary; nil if the preceding index must be put first.
    private mutating func part(for entry: RingEntry) -> Part? {
        let hour = IndexKey.hour(of: entry.programDateTime)
        if let part, part.key.hour == hour, part.index.entries.count < policy.indexLimit,
            part.index.recordBytes < policy.indexBytes
        {
            return part
        }
        guard part?.changedSince == nil, let template else { return nil }
        let key = IndexKey(hour: hour, writer: writer, firstMediaSequence: entry.mediaSequence)
        part = Part(key: key, index: template)
        return part
    }

    /// The oldest segments of one hour that are enough for an object; nil if the object should wait for more.
    private func nextGroup(at now: Duration) -> Group? {
        guard let first = pending.first else { return nil }
        let hour = IndexKey.hour(of: first.programDateTime)
        let used = part.map { $0.key.hour == hour ? $0.index.entries.count : 0 } ?? 0
        let room = policy.indexLimit - (used < policy.indexLimit ? used : 0)
        var (entries, duration, bytes) = ([RingEntry](), Duration.zero, 0)
        var isWhole = isClosing || now - pendingSince >= policy.longestWait
        for next in pending.prefix(room) {
            let size = next.ownFiles.reduce(0) { $0 + $1.byteCount }
            guard IndexKey.hour(of: next.programDateTime) == hour,
                entries.isEmpty || bytes + size <= policy.objectBytes
            else {
                isWhole = true
                break
            }
            entries.append(next)
            (duration, bytes) = (duration + .milliseconds(next.duration / 90), bytes + size)
            isWhole = isWhole || duration >= policy.objectDuration || entries.count == room
            if duration >= policy.objectDuration { break }
        }
        return isWhole ? Group(entries, joins: policy.objectDuration > .zero) : nil
    }

    private mutating func complete(_ group: Group, at now: Duration) {
        for entry in group.entries {
            let isLost = group.lost.contains(entry.mediaSequence)
            part?.index.append(entry, isLost: isLost)
            if isLost { lose(entry) }
            guard !isLost, !entry.isGap else { continue }
            counts.storedSegments += 1
            counts.storedBytes += UInt64(entry.ownFiles.reduce(0) { $0 + $1.byteCount })
        }
        for object in group.objects { part?.index.append(object) }
        if part?.changedSince == nil { part?.changedSince = now }
        pending.removeFirst(group.entries.count)
        (self.group, pendingSince) = (nil, now)
    }
}

extension ArchiveUpload.Group {
    init(_ entries: [RingEntry], joins: Bool) {
        self.entries = entries
        var names: Set<String> = []
        shared = entries.flatMap(\.sharedFiles).filter { names.insert($0.name).inserted }
        let own = entries.flatMap(\.ownFiles)
        files = joins ? (own.isEmpty ? [] : [own]) : own.map { [$0] }
    }

    /// Counts all segments as lost whose files were not put yet, because a partial object is useless.
    fileprivate mutating func loseAll() {
        let stored = Set(objects.flatMap(\.files).map(\.name))
        for entry in entries where !entry.ownFiles.allSatisfy({ stored.contains($0.name) }) {
            lost.insert(entry.mediaSequence)
        }
        (shared, files) = ([], [])
    }
}

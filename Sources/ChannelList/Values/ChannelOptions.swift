package import Playlist
package import Support

/// How a channel is relayed, as far as its configuration says. nil: as the command line says.
package struct ChannelOptions: Hashable, Sendable {
    package enum AudioMode: String, CaseIterable, Sendable { case copy, bridge, uniform, drop }

    // The upstream.
    package var variant: VariantChoice?
    package var maxConnections: Int?
    /// Whether playlists are loaded by the standard's schedule only.
    package var isPolite: Bool?
    /// The memory of the channel.
    package var memoryLimitBytes: Int?
    package var maxSegmentBytes: Int?
    package var maxPlaylistBytes: Int?
    package var deniesPrivate: Bool?
    /// IP addresses that are permitted nevertheless.
    package var permittedAddresses: [String]?
    /// Silence after which a run fails; zero: never.
    package var giveUp: Duration?
    package var patience: Duration?

    // Output.
    package var audio: AudioMode?
    package var fillsSilence: Bool?
    package var requiresVideo: Bool?
    /// Path of the MP4 file that fills outages.
    package var slate: String?
    /// Length of `live.m3u8`.
    package var window: Duration?
    /// Length of the rewind.
    package var rewind: Duration?
    /// Media that a client of `/live.ts` gets at once.
    package var burst: Duration?
    /// Directory that has a directory for the rewind of each channel that always runs.
    package var spool: String?
    /// Directory that gets a capture of each run.
    package var record: String?

    // Viewers.
    /// Tokens of which a viewer needs one, or one of the server; nil: as the server's other channels.
    package var tokens: [Secret]?

    // When it runs.
    /// Whether the rewind is there before anybody watches.
    package var keepsRewind: Bool?
    package var isAlways: Bool?
    /// How long it runs after its last viewer has left.
    package var idle: Duration?
    /// Whether the channel ends with the process and nobody can ask for what it kept: a request made it.
    package var isTemporary = false

    package init() {}

    /// Whether the channel runs without viewers: if it says so, or else if it records or keeps its rewind.
    package var runsAlways: Bool { isAlways ?? (record != nil || keepsRewind == true) }

    /// These options, and `defaults` where they say nothing.
    package func filled(from defaults: ChannelOptions) -> ChannelOptions {
        var options = self
        options.fill(\.variant, from: defaults)
        options.fill(\.maxConnections, from: defaults)
        options.fill(\.isPolite, from: defaults)
        options.fill(\.memoryLimitBytes, from: defaults)
        options.fill(\.maxSegmentBytes, from: defaults)
        options.fill(\.maxPlaylistBytes, from: defaults)
        options.fill(\.deniesPrivate, from: defaults)
        options.fill(\.permittedAddresses, from: defaults)
        options.fill(\.giveUp, from: defaults)
        options.fill(\.patience, from: defaults)
        options.fill(\.audio, from: defaults)
        options.fill(\.fillsSilence, from: defaults)
        options.fill(\.requiresVideo, from: defaults)
        options.fill(\.slate, from: defaults)
        options.fill(\.window, from: defaults)
        options.fill(\.rewind, from: defaults)
        options.fill(\.burst, from: defaults)
        options.fill(\.spool, from: defaults)
        options.fill(\.record, from: defaults)
        options.fill(\.tokens, from: defaults)
        options.fill(\.keepsRewind, from: defaults)
        options.fill(\.isAlways, from: defaults)
        options.fill(\.idle, from: defaults)
        return options
    }

    private mutating func fill<Value>(
        _ option: WritableKeyPath<ChannelOptions, Value?>, from defaults: ChannelOptions
    ) {
        if self[keyPath: option] == nil { self[keyPath: option] = defaults[keyPath: option] }
    }
}

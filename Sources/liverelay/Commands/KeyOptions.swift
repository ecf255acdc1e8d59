import ArgumentParser
import ChannelList
import Support

/// A command that runs channels. Its options of channels are, for `serve`, the defaults of all channels.
///
/// The groups stand in the commands, because each level of groups multiplies the checks of the parser in debug builds.
protocol ChannelCommand {
    var output: KeyOptions<OutputSection> { get }
    var recording: KeyOptions<RecordingSection> { get }
    var upstreams: KeyOptions<UpstreamSection> { get }
    var requests: RequestArguments { get }
    var audio: KeyOptions<AudioSection> { get }
}

extension ChannelCommand {
    /// The options of channels that were given.
    var channelOptions: ChannelOptions {
        output.options.filled(from: recording.options).filled(from: upstreams.options).filled(from: audio.options)
    }
}

/// A section of the options that the rows of `ConfigurationKey` define.
protocol OptionSection { static var section: ConfigurationKey.Section { get } }

enum UpstreamSection: OptionSection { static let section = ConfigurationKey.Section.upstream }
enum AudioSection: OptionSection { static let section = ConfigurationKey.Section.audio }
enum OutputSection: OptionSection { static let section = ConfigurationKey.Section.output }
enum RecordingSection: OptionSection { static let section = ConfigurationKey.Section.recordings }
enum RunningSection: OptionSection { static let section = ConfigurationKey.Section.running }

/// The options of a section, made from the rows of its keys.
struct KeyOptions<Section: OptionSection>: ParsableArguments, CustomReflectable {
    /// The options that were given.
    private(set) var options = ChannelOptions()
    private var error: ConfigurationError?

    private static var keys: [ConfigurationKey] { Section.section.keys }

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: ConfigurationKey.self)
        var arguments: [ConfigurationKey: [String]] = [:]
        for key in Self.keys {
            let texts =
                switch key.row.form {
                case .flag: try container.decode(Flag<Bool?>.self, forKey: key).wrappedValue.map { ["\($0)"] }
                case .addresses: try container.decode(Option<[String]>.self, forKey: key).wrappedValue
                default: try container.decode(Option<String?>.self, forKey: key).wrappedValue.map { [$0] }
                }
            if let texts, !texts.isEmpty { arguments[key] = texts }
        }
        do throws(ConfigurationError) { options = try ChannelOptions(arguments: arguments) } catch {
            self.error = error
        }
    }

    func validate() throws {
        guard let issue = error?.issues.first else { return }
        throw ValidationError("--\(issue.path.joined(separator: ".")): \(issue.reason).")
    }

    /// The parser finds its options in the children.
    var customMirror: Mirror { Mirror(self, children: Self.keys.map { ("_" + $0.rawValue, $0.definition) }) }
}

extension ConfigurationKey {
    /// The name of the key's option: `serve --check` judges the list.
    var optionName: String { self == .check ? "check-output" : rawValue }

    /// The option of the command line.
    fileprivate var definition: Any {
        let help = ArgumentHelp(self, discussion: row.discussion)
        return switch row.form {
        case .flag: Flag<Bool?>(name: .customLong(optionName), inversion: .prefixedNo, help: help)
        case .addresses:
            Option<[String]>(wrappedValue: [], name: .customLong(optionName), help: help, transform: checked)
        default:
            Option<String?>(name: .customLong(optionName), help: help, completion: completion, transform: checked)
        }
    }

    private var completion: CompletionKind? {
        switch row.form {
        case .choice(let words): .list(words)
        case .path: self == .slate ? .file() : .directory
        case .recording: .file()
        default: nil
        }
    }

    /// - Throws: `ValidationError` if the value cannot be read.
    @Sendable private func checked(_ text: String) throws -> String {
        do throws(ConfigurationError) { _ = try ChannelOptions(arguments: [self: [text]]) } catch {
            throw ValidationError("expected \(error.issues.first?.expectation ?? "another value").")
        }
        return text
    }

    fileprivate var valueName: String? {
        switch row.form {
        case .span, .shortSpan, .hours, .split, .rewind: "time"
        case .path: self == .slate ? "file" : "directory"
        case .bytes, .storage: "bytes"
        case .count: "number"
        case .addresses: "address"
        case .store: "url"
        case .zone: "zone"
        case .recording: "path"
        case .flag, .variant, .headers, .tokens, .text, .choice, .texts, .sources: nil
        }
    }
}

extension ArgumentHelp {
    /// The help of a channel's key.
    init(_ key: ConfigurationKey, discussion: String = "", valueName: String? = nil) {
        let standard = key.row.standard.map { " (default: \($0))" } ?? ""
        self.init(key.row.help + standard, discussion: discussion, valueName: valueName ?? key.valueName)
    }
}

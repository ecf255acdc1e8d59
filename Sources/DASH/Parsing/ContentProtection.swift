import Playlist
import Support

/// The key that a ContentProtection asks for (ISO/IEC 23009-1 §5.8.4.1). No media of that kind is republished; the names are
/// for the message that says so.
enum ContentProtection {
    private static let commonScheme = "urn:mpeg:dash:mp4protection:2011"

    /// The systems by their UUID (dashif.org/identifiers/content_protection).
    private static let systems = [
        "edef8ba9-79d6-4ace-a3c8-27dcd51d21ed": "Widevine", "9a04f079-9840-4286-ab92-e65be0885f95": "PlayReady",
        "94ce86fb-07ff-4f43-adb8-93d2fa968ca2": "FairPlay", "e2719d58-a985-b3c9-781a-b030af78d30e": "ClearKey",
        "1077efec-c0b2-4d02-ace3-3c1e52e2fb4b": "ClearKey", "5e629af5-38da-4063-8977-97ffbd9902d4": "Marlin",
    ]

    /// nil for media that is clear.
    static func key(of element: XMLElement) -> SegmentKey? {
        let protections = element.all("ContentProtection")
        guard !protections.isEmpty else { return nil }
        let schemes = protections.map { $0["schemeIdUri"]?.lowercased() ?? "" }
        let method = zip(protections, schemes).first { $0.1 == commonScheme }?.0["value"] ?? "cenc"
        let system = schemes.first { $0 != commonScheme } ?? commonScheme
        let name = systems.first { system.hasSuffix($0.key) }?.value ?? system
        return SegmentKey(method: .other(method), uri: "", keyFormat: name)
    }
}

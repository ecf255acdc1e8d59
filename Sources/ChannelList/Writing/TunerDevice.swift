import Support

/// The HDHomeRun device that clients take this server for, and its documents.
package struct TunerDevice: Equatable, Sendable {
    package static let usualName = "liverelay"

    let name: String
    /// Eight hexadecimal digits in capitals, with the check digit that clients verify. Constant over restarts, because
    /// clients identify the device and its channels by it.
    package let deviceID: String
    /// The number of channels that can run at once.
    package let tunerCount: Int

    /// - Parameter deviceID: a valid device ID.
    package init(
        name: String = TunerDevice.usualName, deviceID: String = TunerDevice.deviceID(seed: ""), tunerCount: Int
    ) {
        self.name = name
        self.deviceID = deviceID.uppercased()
        self.tunerCount = tunerCount
    }

    /// `application/json` of `/discover.json`. No name contains HDTC: Jellyfin would ask such a model to transcode.
    /// - Parameter query: a query that the URL of the lineup carries.
    package func discoverJSON(baseURL: String, query: String? = nil) -> String {
        let base = Self.withoutSlash(baseURL)
        var device = JSONObject([
            "FriendlyName": name, "Manufacturer": Self.manufacturer, "ModelNumber": Self.modelNumber,
            "FirmwareName": Self.firmwareName, "FirmwareVersion": Self.firmwareVersion, "DeviceID": deviceID,
            "DeviceAuth": Self.manufacturer, "BaseURL": base,
            "LineupURL": base + "/lineup.json" + ChannelListWriter.suffix(query),
        ])
        device.add("TunerCount", tunerCount)
        return device.text
    }

    /// `application/json` of `/lineup_status.json`: the lineup is complete, and a scan would find the same channels.
    package static let lineupStatusJSON =
        #"{"ScanInProgress":0,"ScanPossible":1,"Source":"Cable","SourceList":["Cable"]}"#

    /// `application/json` of `/lineup.json`. Its URLs are transport streams, because Plex does not support HLS here.
    /// - Parameters:
    ///   - numbers: one number for each channel.
    ///   - query: a query that the URLs carry.
    package static func lineupJSON(
        _ channels: [ListedChannel], numbers: [String], baseURL: String, query: String? = nil
    ) -> String {
        let (base, suffix) = (ChannelListWriter.withSlash(baseURL), ChannelListWriter.suffix(query))
        let entries = zip(channels, numbers).map { channel, number in
            let url = base + StreamFormat.ts.path(ofSlug: channel.slug) + suffix
            return JSONObject(["GuideNumber": number, "GuideName": channel.name, "URL": url]).text
        }
        return "[" + entries.joined(separator: ",\n") + "]"
    }

    /// `application/xml` of `/device.xml`, the UPnP description.
    package func deviceXML(baseURL: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <root xmlns="urn:schemas-upnp-org:device-1-0">
          <specVersion><major>1</major><minor>0</minor></specVersion>
          <URLBase>\(DocumentText.xml(Self.withoutSlash(baseURL)))</URLBase>
          <device>
            <deviceType>urn:schemas-upnp-org:device:MediaServer:1</deviceType>
            <friendlyName>\(DocumentText.xml(name))</friendlyName>
            <manufacturer>\(Self.manufacturer)</manufacturer>
            <modelName>\(Self.modelNumber)</modelName>
            <modelNumber>\(Self.modelNumber)</modelNumber>
            <serialNumber>\(deviceID)</serialNumber>
            <UDN>uuid:\(uuid)</UDN>
          </device>
        </root>

        """
    }

    private static let manufacturer = "liverelay"
    private static let modelNumber = "HDHR4-2US"
    private static let firmwareName = "hdhomerun4_atsc"
    private static let firmwareVersion = "20200907"

    private static func withoutSlash(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }

    /// A name-based UUID of the device. Its version digit marks a custom format (RFC 9562 §5.8).
    private var uuid: String { "6c697665-7265-8c61-8000-0000\(deviceID.lowercased())" }
}

extension TunerDevice {
    /// The number of each channel: its own, unless an earlier channel has the same; else five digits derived from its
    /// slug.
    ///
    /// Clients identify a channel by its number. Therefore a number does not depend on earlier channels, unless two
    /// channels would get the same number.
    package static func guideNumbers(of channels: [ListedChannel]) -> [String] {
        var used: Set<String> = []
        var numbers: [String] = channels.map { channel in
            guard let number = channel.number, used.insert(number).inserted else { return "" }
            return number
        }
        for index in channels.indices where numbers[index].isEmpty {
            var number = 10_000 + Int(StableHash.of(channels[index].slug) % 90_000)
            while !used.insert(String(number)).inserted { number += 1 }
            numbers[index] = String(number)
        }
        return numbers
    }

    /// Whether the check digit of a device ID is right (libhdhomerun, hdhomerun_discover_validate_device_id).
    package static func isValid(deviceID: String) -> Bool {
        let digits = deviceID.utf8.compactMap(Hexadecimal.value(ofDigit:))
        guard digits.count == 8, deviceID.utf8.count == 8 else { return false }
        return checksum(digits) == 0
    }

    /// The first seven digits of `deviceID` with their check digit; nil unless it has eight hexadecimal digits.
    package static func corrected(deviceID: String) -> String? {
        let digits = deviceID.utf8.compactMap(Hexadecimal.value(ofDigit:))
        guard digits.count == 8, deviceID.utf8.count == 8 else { return nil }
        return deviceID.dropLast().uppercased() + String(checksum(Array(digits.dropLast())), radix: 16, uppercase: true)
    }

    /// 105, as in current devices, four digits of the seed's hash, and the check digit.
    package static func deviceID(seed: String) -> String {
        let hash = StableHash.of(seed)
        let folded = (hash >> 16) ^ (hash & 0xFFFF)
        var digits: [UInt8] = [1, 0, 5]
        for place: UInt32 in [12, 8, 4, 0] { digits.append(UInt8((folded >> place) & 15)) }
        digits.append(checksum(digits))
        return digits.map { String($0, radix: 16, uppercase: true) }.joined()
    }

    private static func checksum(_ digits: [UInt8]) -> UInt8 {
        let table: [UInt8] = [0xA, 0x5, 0xF, 0x6, 0x7, 0xC, 0x1, 0xB, 0x9, 0x2, 0x8, 0xD, 0x4, 0x3, 0xE, 0x0]
        return digits.enumerated().reduce(0) { $0 ^ ($1.offset % 2 == 0 ? table[Int($1.element)] : $1.element) }
    }
}

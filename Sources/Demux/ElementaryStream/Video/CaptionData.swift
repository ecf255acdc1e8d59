package import Media

/// Caption data in the user data of a picture (ATSC A/53 Part 4 §6.2.3, CTA-708 §4.4).
enum CaptionData {
    /// The bytes of a message up to the last caption byte: 31 constructs of three bytes after the header.
    static let messageLimit = identifier.count + 2 + 31 * 3

    /// itu_t_t35_country_code (United States), itu_t_t35_provider_code (ATSC).
    private static let provider: [UInt8] = [0xB5, 0x00, 0x31]
    /// With user_identifier and user_data_type_code.
    private static let identifier: [UInt8] = provider + Array("GA94".utf8) + [0x03]

    /// cc_type.
    private enum Construct {
        static let cea608 = 0...1
        static let packetData = 2
        static let packetStart = 3
    }

    /// Returns the channels with captions in user data of MPEG-2, which are a message without its provider.
    static func channels(inUserData userData: ArraySlice<UInt8>) -> CaptionChannels {
        channels(in: message(ofUserData: userData))
    }

    static func message(ofUserData userData: ArraySlice<UInt8>) -> [UInt8] {
        provider + userData.prefix(messageLimit - provider.count)
    }

    /// Returns the channels with captions in a message user_data_registered_itu_t_t35; empty for other user data.
    static func channels(in message: [UInt8]) -> CaptionChannels {
        var channels = CaptionChannels()
        var packet: [UInt8] = []
        forEachConstruct(in: message) { type, first, second in
            switch type {
            case Construct.packetStart:
                insertServices(of: packet, into: &channels)
                packet = [first, second]
            case Construct.packetData: if !packet.isEmpty { packet += [first, second] }
            case let field: insertChannel(of: first, second, field: field, into: &channels)
            }
        }
        insertServices(of: packet, into: &channels)
        return channels
    }

    static func cea608Pairs(in message: [UInt8]) -> [CEA608Pair] {
        var pairs: [CEA608Pair] = []
        forEachConstruct(in: message) { type, first, second in
            if Construct.cea608 ~= type { pairs.append(CEA608Pair(field: type, first: first, second: second)) }
        }
        return pairs
    }

    /// Visits the valid constructs of cc_data: cc_type, cc_data_1, cc_data_2.
    private static func forEachConstruct(in message: [UInt8], _ body: (Int, UInt8, UInt8) -> Void) {
        guard message.starts(with: identifier), message.count > identifier.count + 2 else { return }
        let flags = message[identifier.count]
        guard flags & 0x40 != 0 else { return }  // process_cc_data_flag
        var index = identifier.count + 2
        for _ in 0..<(flags & 0x1F) where index + 3 <= message.count {
            let header = message[index]
            if header & 0x04 != 0 { body(Int(header & 0x03), message[index + 1], message[index + 2]) }  // cc_valid
            index += 3
        }
    }

    /// Adds the channel of a control code that selects a caption mode (CTA-608 §C.8): resume caption loading, roll-up,
    /// resume direct captioning, end of caption. Text mode and XDS are no captions.
    private static func insertChannel(
        of first: UInt8, _ second: UInt8, field: Int, into channels: inout CaptionChannels
    ) {
        guard first.nonzeroBitCount % 2 == 1, second.nonzeroBitCount % 2 == 1 else { return }  // odd parity
        // 0x14 and 0x1C in field 1, 0x15 and 0x1D in field 2, which some encoders write as in field 1.
        guard first & 0x76 == 0x14, [0x20, 0x25, 0x26, 0x27, 0x29, 0x2F].contains(second & 0x7F) else { return }
        channels.insert(cea608: field * 2 + (first & 0x08 == 0 ? 1 : 2))
    }

    /// Adds the services of the service blocks of a caption channel packet, as far as it is in this picture
    /// (CTA-708 §5, §6.2).
    private static func insertServices(of packet: [UInt8], into channels: inout CaptionChannels) {
        guard let header = packet.first else { return }
        let code = Int(header & 0x3F)
        let end = min(packet.count, code == 0 ? 128 : code * 2)
        var index = 1
        while index < end {
            let (service, size) = (Int(packet[index] >> 5), Int(packet[index] & 0x1F))
            index += 1
            guard service > 0, size > 0 else { return }
            if service < 7 {
                channels.insert(service: service)
            } else {
                guard index < end else { return }
                channels.insert(service: Int(packet[index] & 0x3F))
                index += 1
            }
            index += size
        }
    }
}

/// Two bytes of line 21, with which a picture carries captions of CEA-608 (CTA-608 §8.4).
package struct CEA608Pair: Equatable, Sendable {
    /// 0 for the first field: CC1 and CC2. 1 for the second: CC3 and CC4.
    package let field: Int
    package let first: UInt8
    package let second: UInt8

    package static func pairs(of payload: ArraySlice<UInt8>, codec: VideoConfiguration.Codec) -> [CEA608Pair] {
        let bytes = Array(payload)
        if codec == .mpeg2 {
            var units: [NALUnit] = []
            try? AnnexB.scan(bytes, in: bytes.indices, keepsZeros: true, into: &units)
            return units.filter { bytes[$0.start] == MPEG2Picture.userDataStartCode }
                .flatMap {
                    CaptionData.cea608Pairs(in: CaptionData.message(ofUserData: bytes[$0.start + 1..<$0.end]))
                }
        }
        return LengthPrefixedNALUnits.units(of: bytes).flatMap {
            SEIMessage.userDataRegistered.all(in: $0, of: bytes, codec: codec, limit: CaptionData.messageLimit)
        }
        .flatMap { CaptionData.cea608Pairs(in: $0) }
    }
}

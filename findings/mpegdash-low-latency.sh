#!/usr/bin/env bash
# Python's mpegdash turns a low-latency manifest into one whose segments cannot be loaded early.
#
# Guess: what a manifest says about when segments are available comes out of parse and write as it went in.
# Seen: mpegdash 0.4.1 reads every attribute "false" as true: availabilityTimeComplete="false" becomes "true", and
#   segmentAlignment="false" becomes "true". availabilityTimeOffset is kept. ServiceDescription, ProducerReferenceTime and
#   the content of events, such as SCTE-35, are gone.
# Matters: availabilityTimeOffset without availabilityTimeComplete="false" says that whole segments exist before they were
#   made. Players then ask for them too early, and get 404.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -qq mpegdash==0.4.1
"$scratch/venv/bin/python" - <<'END'
import re
import sys

from mpegdash.parser import MPEGDASHParser

manifest = """<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:scte35="http://www.scte.org/schemas/35/2016" type="dynamic"
  profiles="urn:mpeg:dash:profile:isoff-live:2011" availabilityStartTime="2026-11-29T12:00:00Z" minBufferTime="PT1S">
 <ServiceDescription id="0"><Latency target="3500"/></ServiceDescription>
 <Period id="1" start="PT0S">
  <EventStream schemeIdUri="urn:scte:scte35:2014:xml+bin" timescale="90000"><Event presentationTime="0" id="7">
   <scte35:Signal><scte35:Binary>/DAWAAAAAAAAAP/wBQb+AIlUQAAAWOfXXg==</scte35:Binary></scte35:Signal></Event></EventStream>
  <AdaptationSet mimeType="video/mp4" segmentAlignment="false">
   <ProducerReferenceTime id="0" type="encoder" wallClockTime="2026-11-29T12:00:00Z" presentationTime="0"/>
   <SegmentTemplate timescale="1" duration="4" media="$Number$.m4s" initialization="init.mp4"
     availabilityTimeOffset="3.5" availabilityTimeComplete="false"/>
   <Representation id="v" bandwidth="1000000" codecs="avc1.4d401f" width="640" height="360"/>
  </AdaptationSet>
 </Period>
</MPD>"""
written = MPEGDASHParser.get_as_doc(MPEGDASHParser.parse(manifest)).toprettyxml()
seen = {name: (re.findall(f' {name}="([^"]*)"', written) or ["absent"])[0]
        for name in ("availabilityTimeComplete", "segmentAlignment", "availabilityTimeOffset")}
seen |= {name: f"<{name}" in written for name in ("ServiceDescription", "ProducerReferenceTime", "scte35:Binary")}
for name, value in seen.items():
    print(f"{name}: {value}")
if list(seen.values()) != ["true", "true", "3.5", False, False, False]:
    sys.exit("changed")
END

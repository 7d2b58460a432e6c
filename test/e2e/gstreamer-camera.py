"""A foreign RTSP camera: GStreamer's RTSP server with test frames, and audio when asked for.

Prints one JSON line {"port": N} when it listens. To each line it reads it answers with a JSON line: for every stream, how many
frames it has sent, and whether it has ended; the line "end" ends them all. Ends when standard input closes, so that it never outlives the test.
"""

import argparse
import json
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import Gio, GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

VIDEO = {
    "h264": "x264enc tune=zerolatency speed-preset=ultrafast bitrate=1000 key-int-max={gop} bframes=0"
    " ! video/x-h264,profile=baseline ! rtph264pay name=pay0 pt=96 config-interval=0",
    # Frames shown before others that were sent before them, and no parameter sets in the description.
    "h264-bframes": "x264enc speed-preset=veryfast bitrate=1000 key-int-max={gop} bframes=2 b-adapt=false b-pyramid=true"
    " rc-lookahead=0 sync-lookahead=0 ! video/x-h264,profile=main ! h264parse config-interval=-1"
    " ! rtph264pay name=pay0 pt=96 aggregate-mode=zero-latency",
    "h265": "x265enc tune=zerolatency speed-preset=ultrafast bitrate=1000 key-int-max={gop}"
    " ! h265parse config-interval=-1 ! rtph265pay name=pay0 pt=96",
    # Key frames are CRA: shown after frames that are sent after them.
    "h265-bframes": "x265enc speed-preset=ultrafast bitrate=1000 key-int-max={gop}"
    " option-string=bframes=3:b-adapt=0:open-gop=1:rc-lookahead=5:min-keyint={gop}:scenecut=0"
    " ! h265parse config-interval=-1 ! rtph265pay name=pay0 pt=96",
    "mjpeg": "videoconvert ! video/x-raw,format=I420 ! jpegenc quality=70 ! rtpjpegpay name=pay0 pt=26",
}
AUDIO = {
    "opus": "audio/x-raw,rate=48000,channels=2 ! opusenc bitrate=48000 ! rtpopuspay name=pay1 pt=98",
    "pcmu": "audio/x-raw,rate=8000,channels=1 ! mulawenc ! rtppcmupay name=pay1 pt=0",
    "pcma": "audio/x-raw,rate=8000,channels=1 ! alawenc ! rtppcmapay name=pay1 pt=8",
    "aac": "audio/x-raw,rate=44100,channels=1 ! voaacenc bitrate=64000 ! aacparse ! rtpmp4gpay name=pay1 pt=97",
    # As older cameras send it (RFC 6416).
    "latm": "audio/x-raw,rate=44100,channels=1 ! voaacenc bitrate=64000 ! aacparse ! rtpmp4apay name=pay1 pt=97",
}


def launch_line(args, spec):
    """`spec`: a name of VIDEO and perhaps, behind a plus sign, one of AUDIO."""
    video, _, audio = spec.partition("+")
    count = f"num-buffers={args.frames} " if args.frames else ""
    line = (
        f"videotestsrc is-live=true pattern=ball {count}"
        f"! video/x-raw,width={args.width},height={args.height},framerate={args.fps}/1 ! " + VIDEO[video].format(gop=args.gop)
    )
    if audio:
        line += " audiotestsrc is-live=true wave=ticks ! " + AUDIO[audio]
    return f"( {line} )"


class Counted:
    """Counts the frames that reach the payloader of a stream's pipeline. A stream that has ended is gone: it does not begin anew."""

    def __init__(self, factory, remove):
        self.frames = 0
        self.ended = False
        self.remove = remove
        self.element = None
        factory.connect("media-configure", self.on_media)

    def on_media(self, _factory, media):
        self.element = media.get_element()
        pad = self.element.get_by_name("pay0").get_static_pad("sink")
        pad.add_probe(Gst.PadProbeType.BUFFER, self.on_buffer)
        pad.add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM | Gst.PadProbeType.EVENT_FLUSH, self.on_event)

    def end(self):
        if self.element and not self.ended:
            self.element.send_event(Gst.Event.new_eos())

    def on_buffer(self, _pad, _info):
        self.frames += 1
        return Gst.PadProbeReturn.OK

    def on_event(self, _pad, info):
        kind = info.get_event().type
        if kind == Gst.EventType.EOS:
            self.ended = True
            GLib.idle_add(self.remove)
        # PLAY with a Range is a seek: what had been made before it is thrown away.
        if kind == Gst.EventType.FLUSH_STOP:
            self.frames = 0
        return Gst.PadProbeReturn.OK


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=360)
    parser.add_argument("--fps", type=int, default=25)
    parser.add_argument("--gop", type=int, default=25, help="frames from one key frame to the next")
    parser.add_argument("--frames", type=int, default=0, help="frames of each stream; 0 = without end")
    parser.add_argument("--streams", default="h264", help="separated by commas; each is at the path of its name")
    parser.add_argument("--transport", choices=["tcp", "udp"], default="tcp", help="the only one it allows")
    parser.add_argument("--identity", help="PEM file with certificate and key: the server speaks TLS; needs --user")
    parser.add_argument("--user")
    parser.add_argument("--password")
    parser.add_argument("--scheme", choices=["basic", "digest"], default="digest")
    args = parser.parse_args()

    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service("0")

    factories = {}
    for spec in args.streams.split(","):
        factory = GstRtspServer.RTSPMediaFactory()
        factory.set_launch(launch_line(args, spec))
        factory.set_shared(True)
        udp = args.transport == "udp"
        factory.set_protocols(GstRtsp.RTSPLowerTrans.UDP if udp else GstRtsp.RTSPLowerTrans.TCP)
        server.get_mount_points().add_factory(f"/{spec}", factory)
        factories[spec] = factory
    points = server.get_mount_points()
    counts = {
        spec: Counted(factory, lambda spec=spec: points.remove_factory(f"/{spec}")) for spec, factory in factories.items()
    }

    if args.user:
        auth = GstRtspServer.RTSPAuth()
        token = GstRtspServer.RTSPToken()
        token.set_string("media.factory.role", "viewer")
        if args.scheme == "basic":
            auth.set_supported_methods(GstRtsp.RTSPAuthMethod.BASIC)
            auth.add_basic(GstRtspServer.RTSPAuth.make_basic(args.user, args.password), token)
        else:
            auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
            auth.add_digest(args.user, args.password, token)
        permissions = GstRtspServer.RTSPPermissions()
        permissions.add_permission_for_role("viewer", "media.factory.access", True)
        permissions.add_permission_for_role("viewer", "media.factory.construct", True)
        for factory in factories.values():
            factory.set_permissions(permissions)
        server.set_auth(auth)

    if args.identity:
        server.get_auth().set_tls_certificate(Gio.TlsCertificate.new_from_file(args.identity))

    server.attach(None)
    loop = GLib.MainLoop()

    def answer():
        for line in sys.stdin:
            if line.strip() == "end":
                for counted in counts.values():
                    counted.end()
            report = {spec: {"frames": c.frames, "ended": c.ended} for spec, c in counts.items()}
            print(json.dumps(report), flush=True)
        loop.quit()

    threading.Thread(target=answer, daemon=True).start()
    print(json.dumps({"port": server.get_bound_port()}), flush=True)
    loop.run()


main()

"""A foreign RTSP camera: GStreamer's RTSP server with a test picture, and sound when asked for.

Prints one JSON line {"port": N} when it listens. Ends when standard input closes, so that it never outlives the test.
"""

import argparse
import json
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=360)
    parser.add_argument("--fps", type=int, default=25)
    parser.add_argument("--gop", type=int, default=25, help="frames from one key frame to the next")
    parser.add_argument("--sound", action="store_true")
    parser.add_argument("--user")
    parser.add_argument("--password")
    parser.add_argument("--scheme", choices=["basic", "digest"], default="digest")
    args = parser.parse_args()

    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service("0")

    launch = (
        f"videotestsrc is-live=true pattern=ball ! video/x-raw,width={args.width},height={args.height},framerate={args.fps}/1"
        f" ! x264enc tune=zerolatency speed-preset=ultrafast bitrate=1000 key-int-max={args.gop} bframes=0"
        " ! video/x-h264,profile=baseline ! rtph264pay name=pay0 pt=96 config-interval=0"
    )
    if args.sound:
        launch += (
            " audiotestsrc is-live=true wave=ticks ! audio/x-raw,rate=44100,channels=1 ! voaacenc bitrate=64000"
            " ! aacparse ! rtpmp4gpay name=pay1 pt=97"
        )
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(f"( {launch} )")
    factory.set_shared(True)
    factory.set_protocols(GstRtsp.RTSPLowerTrans.TCP)
    server.get_mount_points().add_factory("/camera", factory)

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
        factory.set_permissions(permissions)
        server.set_auth(auth)

    server.attach(None)
    loop = GLib.MainLoop()
    threading.Thread(target=lambda: (sys.stdin.read(), loop.quit()), daemon=True).start()
    print(json.dumps({"port": server.get_bound_port()}), flush=True)
    loop.run()


main()

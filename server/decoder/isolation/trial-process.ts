// Started to find out whether a way of isolation works. It reports once FFmpeg is loaded.

import { AV_CODEC_ID_H264 } from 'node-av/constants'
import { Codec } from 'node-av/lib'

// A message of one byte. See message-stream.ts.
process.stdout.write(Uint8Array.of(0, 0, 0, 1, Codec.findDecoder(AV_CODEC_ID_H264) ? 1 : 0))

// nightjar camera damaged: whether frames damaged by packet loss are kept.

import type { Command } from './command.ts'
import { UsageError } from './command.ts'
import { parseId } from './names.ts'
import { withStore } from './open-data.ts'

export const damagedCommand: Command = {
  name: 'camera damaged',
  summary: 'Keep frames damaged by packet loss, or drop them until the next key frame.',
  positionals: ['CAMERA_ID', 'keep|drop'],
  options: {},
  async run({ config, positionals }) {
    const [camera, setting] = positionals as [string, string]
    if (setting !== 'keep' && setting !== 'drop')
      throw new UsageError(`expected keep or drop, got "${setting}"`, damagedCommand)
    return withStore(config, async (store) => {
      const { id, keepsDamaged } = await store.cameras.update(parseId('camera', camera), {
        keepsDamaged: setting === 'keep',
      })
      const text = `Damaged frames of camera ${id} are ${keepsDamaged ? 'kept' : 'dropped'}.`
      return { json: { id, keeps_damaged_pictures: keepsDamaged }, text }
    })
  },
}

// Lists the keyboard shortcuts, with a switch to disable them.

import { Fragment } from 'react'
import { type KeyGroup, keyGroups } from '../../model/player-keys.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useTexts } from '../../texts/texts.tsx'

export type KeyHelpProps = {
  readonly isOn: boolean
  readonly onSwitch: (isOn: boolean) => void
  readonly onClose: () => void
}

export function KeyHelp({ isOn, onSwitch, onClose }: KeyHelpProps) {
  const { keys: texts, close } = useTexts()
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <div className="key-groups">
        {(Object.keys(keyGroups) as KeyGroup[]).map((group) => (
          <section key={group}>
            <h3>{texts.groups[group]}</h3>
            <dl className="keys">
              {keyGroups[group].map(([command, shown]) => (
                <div key={command}>
                  <dt>
                    {shown.map((each, index) => (
                      <Fragment key={each}>
                        {index > 0 && ' '}
                        <kbd>{each === 'Space' ? texts.space : each}</kbd>
                      </Fragment>
                    ))}
                  </dt>
                  <dd>{texts.commands[command]}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <label className="check">
        <input type="checkbox" checked={isOn} onChange={(event) => onSwitch(event.currentTarget.checked)} />
        {texts.on}
      </label>
      <p className="hint">{texts.offHint}</p>
      <div className="form-end">
        <Button onClick={onClose}>{close}</Button>
      </div>
    </Dialog>
  )
}

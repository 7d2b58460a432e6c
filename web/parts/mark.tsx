// The nightjar before the evening's moon; the pages of signing in show the same.

import mark from '../../server/api/pages/look/nightjar.svg'

export function Mark() {
  return <img src={mark} width="32" height="32" alt="" />
}

// Which view an address shows. Other addresses of this kind are answered by the server; see viewPaths in server/api/dashboard.

import { Suspense } from 'react'
import { Route, Switch } from 'wouter'
import { Empty } from '../parts/empty.tsx'
import { useTexts } from '../texts/texts.tsx'
import { Cameras } from '../views/cameras/cameras.tsx'

export function Routes() {
  const { failures, loading } = useTexts()
  return (
    <Suspense fallback={<p className="view">{loading}</p>}>
      <Switch>
        <Route path="/" component={Cameras} />
        <Route>
          <Empty title={failures.missing} />
        </Route>
      </Switch>
    </Suspense>
  )
}

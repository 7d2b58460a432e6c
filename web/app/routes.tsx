// Maps paths to views. The server answers all other paths; see viewPaths in server/api/dashboard.

import { lazy, Suspense } from 'react'
import { Route, Switch } from 'wouter'
import { Empty } from '../parts/empty.tsx'
import { useTexts } from '../texts/texts.tsx'
import { Cameras } from '../views/cameras/cameras.tsx'

const OwnCamera = lazy(async () => ({ default: (await import('../views/camera/camera.tsx')).OwnCamera }))
const SharedCamera = lazy(async () => ({ default: (await import('../views/camera/camera.tsx')).SharedCameraView }))
const AddCamera = lazy(async () => ({ default: (await import('../views/add/add-camera.tsx')).AddCamera }))
const Events = lazy(async () => ({ default: (await import('../views/events/events.tsx')).Events }))
const Guests = lazy(async () => ({ default: (await import('../views/guests/guests.tsx')).Guests }))
const CameraSettings = lazy(async () => ({
  default: (await import('../views/camera-settings/camera-settings.tsx')).CameraSettings,
}))
const Settings = lazy(async () => ({ default: (await import('../views/settings/settings.tsx')).Settings }))

export function Routes() {
  const { failures, loading } = useTexts()
  return (
    <Suspense fallback={<p className="view">{loading}</p>}>
      <Switch>
        <Route path="/" component={Cameras} />
        <Route path="/add" component={AddCamera} />
        <Route path="/events" component={Events} />
        <Route path="/cameras/:id/guests" component={Guests} />
        <Route path="/cameras/:id/settings" component={CameraSettings} />
        <Route path="/settings/:part?" component={Settings} />
        <Route path="/cameras/:id" component={OwnCamera} />
        <Route path="/shared/:id" component={SharedCamera} />
        <Route>
          <Empty title={failures.missing} />
        </Route>
      </Switch>
    </Suspense>
  )
}

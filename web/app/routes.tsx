// Maps paths to views. The server answers all other paths; see viewPaths in server/api/dashboard.

import { type ComponentType, useEffect, useState } from 'react'
import { Route, Switch } from 'wouter'
import { Empty } from '../parts/empty.tsx'
import { Failure } from '../parts/failure.tsx'
import { useTexts } from '../texts/texts.tsx'
import { Cameras } from '../views/cameras/cameras.tsx'

const loadCamera = () => import('../views/camera/camera.tsx')
const OwnCamera = createView(async () => (await loadCamera()).OwnCamera)
const SharedCamera = createView(async () => (await loadCamera()).SharedCameraView)
const AddCamera = createView(async () => (await import('../views/add/add-camera.tsx')).AddCamera)
const Events = createView(async () => (await import('../views/events/events.tsx')).Events)
const Guests = createView(async () => (await import('../views/guests/guests.tsx')).Guests)
const CameraSettings = createView(
  async () => (await import('../views/camera-settings/camera-settings.tsx')).CameraSettings,
)
const Settings = createView(async () => (await import('../views/settings/settings.tsx')).Settings)

/**
 * A view whose code is loaded when it is first shown. `lazy` of React would show it 300 ms later than it could, because
 * React does not replace what it shows while something loads sooner than that.
 */
function createView(load: () => Promise<ComponentType>): ComponentType {
  let Loaded: ComponentType | undefined
  return function View() {
    const { loading } = useTexts()
    const [result, setResult] = useState<{ readonly error?: unknown }>()
    useEffect(() => {
      if (Loaded) return
      load().then(
        (found) => {
          Loaded = found
          setResult({})
        },
        (error: unknown) => setResult({ error }),
      )
    }, [])
    if (Loaded) return <Loaded />
    // The server may have been replaced by another version, whose files have other names.
    if (result?.error) return <Failure error={result.error} onAgain={() => location.reload()} />
    return <p className="view">{loading}</p>
  }
}

export function Routes() {
  const { failures } = useTexts()
  // Most go from the list to a camera, and want to see it at once.
  useEffect(() => {
    const timer = setTimeout(() => void loadCamera().catch(() => {}), 1000)
    return () => clearTimeout(timer)
  }, [])
  return (
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
  )
}

/// <reference types="vite/client" />

/** The same without what one video of one quality does not need. */
declare module 'hls.js/light' {
  export { default } from 'hls.js'
}

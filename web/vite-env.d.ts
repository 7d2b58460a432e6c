/// <reference types="vite/client" />

/** A build of hls.js without features that a single-quality stream does not need. */
declare module 'hls.js/light' {
  export { default } from 'hls.js'
}

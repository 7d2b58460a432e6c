// Whether a camera is being recorded: one vocabulary for the recorder, the store, the API, the SDK and the dashboard.

export const recordingStatuses = ['READY', 'CONNECTING', 'RECORDING', 'STOPPING', 'ERROR'] as const

/**
 * `READY`: not recording. `CONNECTING`: waiting for the first frame. `STOPPING`: finishing the open file. `ERROR`: the
 * footage cannot be written.
 */
export type RecordingStatus = (typeof recordingStatuses)[number]

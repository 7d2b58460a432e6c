// The logger that each part receives. Messages are constant and values are fields; `info` is for changes of state,
// never for frames.

import pino from 'pino'

export type LogFields = { readonly [name: string]: unknown }

export type Logger = {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  /** A logger that adds these fields to every line. */
  child(fields: LogFields): Logger
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** JSON lines on standard error, because standard output belongs to the results of commands. */
export function createLogger(level: LogLevel): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }))
}

export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
}

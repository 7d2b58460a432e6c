// The scene "yard": a garden after sunset. Clouds drift, a tree sways, a windmill turns, fireflies fly, a cat walks by.

import type { Painter } from './paint.ts'
import type { Colour } from './picture.ts'
import { colour, mix } from './picture.ts'
import { createRandom } from './random.ts'
import type { Scene } from './scene.ts'

const groundY = 372
const leaf = ['#14302b', '#1a3d33', '#22503d'].map(colour)
const lamp = ['#ffd27a', '#ff9f6b', '#8fd3ff', '#b8f28c'].map(colour)
const warm = colour('#ffd98a')
const black = colour('#0b0d16')

export function createYard(): Scene {
  const random = createRandom(7)
  const stars = Array.from({ length: 90 }, () => ({
    x: random() * 960,
    y: random() ** 1.6 * 210,
    size: 0.5 + random(),
  }))
  const flies = Array.from({ length: 16 }, () => ({
    x: 60 + random() * 840,
    y: 350 + random() * 110,
    phase: random() * 100,
  }))
  const clouds = Array.from({ length: 5 }, (_, i) => ({ x: i * 250, y: 66 + random() * 90, speed: 7 + random() * 5 }))
  return {
    paintStill(painter) {
      paintSky(painter, stars)
      paintHills(painter)
      paintLawn(painter)
      paintFence(painter)
      paintHouse(painter)
    },
    paintMoving(painter, seconds) {
      for (const star of stars.slice(0, 14)) {
        painter.glow(star.x, star.y, 5, colour('#ffffff'), 0.35 + 0.35 * Math.sin(seconds * 2 + star.x))
      }
      for (const cloud of clouds) paintCloud(painter, ((cloud.x + seconds * cloud.speed) % 1250) - 150, cloud.y)
      paintWindmill(painter, seconds)
      paintSmoke(painter, seconds)
      paintTree(painter, seconds)
      paintLamps(painter, seconds)
      paintCat(painter, seconds)
      for (const fly of flies) paintFly(painter, fly, seconds)
    },
  }
}

function paintSky(painter: Painter, stars: readonly { x: number; y: number; size: number }[]): void {
  const shades = ['#0e1538', '#1f2a5e', '#3f3f7c', '#7d5590', '#c97a84', '#f4b183', '#fbd3a0'].map(colour)
  painter.gradient(0, groundY, shades, createRandom(1))
  for (const star of stars) painter.disc(star.x, star.y, star.size, colour('#dfe8ff'), 0.75 - star.y / 400)
  painter.glow(690, 92, 130, colour('#c9d4ff'), 0.38)
  painter.disc(690, 92, 33, colour('#f4efdf'))
  for (const [x, y, r] of [
    [678, 84, 7],
    [700, 98, 9],
    [694, 76, 4],
    [680, 104, 4.5],
  ] as const) {
    painter.disc(x, y, r, colour('#dcd5c2'), 0.7)
  }
}

function paintHills(painter: Painter): void {
  const ridge = (base: number, rough: readonly [number, number, number][], shade: Colour) => {
    const points = [0, groundY + 4]
    for (let x = 0; x <= 960; x += 12) {
      points.push(
        x,
        base - rough.reduce((sum, [height, length, shift]) => sum + height * Math.sin(x / length + shift), 0),
      )
    }
    painter.polygon([...points, 960, groundY + 4], shade)
  }
  ridge(
    312,
    [
      [20, 95, 0.4],
      [9, 37, 1],
    ],
    colour('#7a5d86'),
  )
  ridge(
    336,
    [
      [15, 120, 2],
      [6, 45, 0],
    ],
    colour('#4c4a72'),
  )
  ridge(
    358,
    [
      [10, 80, 4],
      [4, 22, 1],
    ],
    colour('#2c3a55'),
  )
}

function paintLawn(painter: Painter): void {
  painter.gradient(groundY, 540, ['#2c5245', '#234a3a', '#183728', '#0f2319'].map(colour), createRandom(2))
  painter.polygon([470, groundY, 520, groundY, 740, 540, 430, 540], colour('#6d6a63'), 0.55)
  for (let i = 0; i < 7; i++) {
    const y = groundY + 8 + i * i * 3.4
    painter.ellipse(497 + i * 13, y, 15 + i * 8, 3 + i * 1.6, colour('#a59d90'), 0.5)
  }
}

function paintFence(painter: Painter): void {
  const wood = colour('#3a3340')
  const edge = colour('#57485a')
  for (let x = 300; x < 960; x += 19) {
    if (x > 452 && x < 530) continue
    painter.polygon([x, 398, x, 346, x + 6, 339, x + 12, 346, x + 12, 398], wood)
    painter.rectangle(x, 346, 2, 52, edge)
  }
  for (const y of [354, 382]) {
    painter.rectangle(300, y, 157, 5, edge)
    painter.rectangle(528, y, 432, 5, edge)
  }
}

function paintHouse(painter: Painter): void {
  painter.polygon([28, 250, 150, 158, 272, 250], colour('#35263c'))
  painter.polygon([16, 254, 150, 150, 284, 254, 272, 262, 150, 168, 28, 262], colour('#57384a'))
  painter.rectangle(216, 160, 22, 60, colour('#4a3343'))
  painter.rectangle(212, 156, 30, 8, colour('#5d4152'))
  painter.rectangle(44, 250, 212, 156, colour('#4b3b55'))
  for (let y = 262; y < 406; y += 13) painter.rectangle(44, y, 212, 1.5, colour('#41334b'))
  for (const [x, y, w, h] of [
    [66, 272, 46, 50],
    [186, 272, 46, 50],
    [132, 196, 36, 34],
  ] as const) {
    painter.glow(x + w / 2, y + h / 2, w * 1.5, warm, 0.3)
    painter.rectangle(x - 4, y - 4, w + 8, h + 8, colour('#2d2233'))
    painter.rectangle(x, y, w, h, colour('#ffcf7d'))
    painter.rectangle(x, y + h * 0.55, w, h * 0.45, colour('#ffb765'), 0.6)
    painter.rectangle(x + w / 2 - 1.5, y, 3, h, colour('#2d2233'))
    painter.rectangle(x, y + h / 2 - 1.5, w, 3, colour('#2d2233'))
  }
  painter.rectangle(126, 318, 48, 88, colour('#2d2233'))
  painter.rectangle(130, 322, 40, 84, colour('#7c3f46'))
  painter.rectangle(137, 330, 26, 30, colour('#8d4c50'))
  painter.disc(163, 368, 2.6, warm)
  painter.glow(150, 308, 46, warm, 0.6)
  painter.disc(150, 308, 5, colour('#fff3cf'))
  painter.polygon([118, 406, 182, 406, 240, 470, 80, 470], warm, 0.13)
}

function paintCloud(painter: Painter, x: number, y: number): void {
  const shade = colour('#d9a7b4')
  painter.ellipse(x, y, 74, 8, shade, 0.22)
  painter.ellipse(x - 22, y - 6, 36, 9, shade, 0.2)
  painter.ellipse(x + 26, y - 5, 30, 7, shade, 0.2)
}

function paintWindmill(painter: Painter, seconds: number): void {
  painter.polygon([596, 346, 603, 252, 607, 252, 614, 346], colour('#e7dce6'), 0.75)
  for (let i = 0; i < 3; i++) {
    const angle = seconds * 0.9 + (i * 2 * Math.PI) / 3
    const x = 605 + Math.cos(angle) * 46
    const y = 250 + Math.sin(angle) * 46
    painter.line(605, 250, x, y, 4, colour('#f3e9ee'), 0.9)
  }
  painter.disc(605, 250, 4.5, colour('#b9a5bb'))
}

function paintSmoke(painter: Painter, seconds: number): void {
  for (let i = 0; i < 5; i++) {
    const age = (seconds * 0.28 + i / 5) % 1
    painter.disc(
      227 + age * 46 + 5 * Math.sin(age * 9 + i),
      154 - age * 92,
      6 + age * 15,
      colour('#b9abc0'),
      0.3 * (1 - age),
    )
  }
}

function paintTree(painter: Painter, seconds: number): void {
  const sway = Math.sin(seconds * 0.8) * 5 + Math.sin(seconds * 2.1) * 1.6
  painter.polygon([806, 424, 818, 300, 814 + sway / 2, 220, 828 + sway / 2, 220, 834, 300, 850, 424], colour('#33262c'))
  painter.line(824, 300, 774 + sway, 240, 7, colour('#33262c'))
  painter.line(828, 290, 880 + sway, 232, 7, colour('#33262c'))
  const crowns = [
    [772, 236, 44],
    [884, 232, 46],
    [826, 214, 58],
    [790, 190, 46],
    [866, 184, 48],
    [828, 158, 48],
  ] as const
  for (const [index, [x, y, r]] of crowns.entries()) {
    const move = sway * (1 + (236 - y) / 90) + Math.sin(seconds * 1.7 + index) * 1.5
    painter.disc(x + move, y, r, leaf[index < 3 ? 0 : 1]!)
    painter.disc(x + move - r * 0.2, y - r * 0.25, r * 0.62, leaf[index < 3 ? 1 : 2]!, 0.8)
  }
}

/** A string of lamps from the house to the tree. */
function paintLamps(painter: Painter, seconds: number): void {
  const wind = Math.sin(seconds * 0.9) * 4
  const at = (share: number) => ({
    x: 262 + share * 552 + wind * Math.sin(share * Math.PI),
    y: 250 - share * 8 + Math.sin(share * Math.PI) * 62,
  })
  for (let i = 0; i < 22; i++) {
    const from = at(i / 22)
    const to = at((i + 1) / 22)
    painter.line(from.x, from.y, to.x, to.y, 1.6, colour('#1c1626'))
  }
  for (let i = 1; i < 12; i++) {
    const { x, y } = at(i / 12)
    const shade = lamp[i % lamp.length]!
    const bright = 0.72 + 0.28 * Math.sin(seconds * 1.6 + i * 2.1)
    painter.glow(x, y + 7, 24, shade, 0.5 * bright)
    painter.disc(x, y + 7, 5, mix(shade, colour('#ffffff'), 0.35 * bright))
  }
}

function paintFly(painter: Painter, fly: { x: number; y: number; phase: number }, seconds: number): void {
  const t = seconds * 0.5 + fly.phase
  const x = fly.x + Math.sin(t) * 55 + Math.sin(t * 2.3) * 18
  const y = fly.y + Math.cos(t * 1.4) * 26
  const bright = Math.max(0, Math.sin(seconds * 1.3 + fly.phase)) ** 0.6
  painter.glow(x, y, 13, colour('#e8ff8a'), 0.75 * bright)
  painter.disc(x, y, 1.8, colour('#fbffd8'), bright)
}

/** Walks from left to right along the lawn in 24 s and comes again after 34. */
function paintCat(painter: Painter, seconds: number): void {
  const x = (seconds % 34) * 44 - 60
  if (x > 1020) return
  const y = 452
  const step = seconds * 7
  painter.ellipse(x, y + 30, 40, 4, black, 0.35)
  for (const [offset, phase] of [
    [-22, 0],
    [-14, Math.PI],
    [16, Math.PI / 2],
    [24, -Math.PI / 2],
  ] as const) {
    const swing = Math.sin(step + phase) * 8
    painter.polygon(
      [x + offset - 4, y, x + offset + 4, y, x + offset + swing + 2.5, y + 30, x + offset + swing - 3, y + 30],
      black,
    )
  }
  painter.ellipse(x, y - 3, 32, 13, black)
  const tail = Math.sin(seconds * 2.4) * 9
  painter.line(x - 26, y - 5, x - 46, y - 22, 6, black)
  painter.line(x - 45, y - 20, x - 50 + tail, y - 48, 5, black)
  painter.disc(x + 36, y - 14, 12.5, black)
  painter.polygon([x + 26, y - 19, x + 28, y - 35, x + 36, y - 24], black)
  painter.polygon([x + 37, y - 24, x + 46, y - 34, x + 47, y - 17], black)
  if (Math.sin(seconds * 1.9) > -0.95) painter.ellipse(x + 41, y - 15, 2.4, 2, colour('#d8f36a'))
}

// The scene "door": a street on a bright morning, seen from a front door. Cars pass, a walker, a balloon, birds, a tree.

import type { Painter } from './paint.ts'
import type { Colour } from './picture.ts'
import { colour, mix } from './picture.ts'
import { createRandom } from './random.ts'
import type { Scene } from './scene.ts'

const glass = colour('#cfe6f2')
const white = colour('#ffffff')
const tyre = colour('#23262d')

type Car = { readonly paint: Colour; readonly speed: number; readonly lane: number; readonly start: number }

const cars: readonly Car[] = [
  { paint: colour('#d9534a'), speed: 118, lane: 372, start: 100 },
  { paint: colour('#3f7fc4'), speed: 96, lane: 372, start: 900 },
  { paint: colour('#f2b63c'), speed: -104, lane: 340, start: 300 },
  { paint: colour('#5aa57a'), speed: -84, lane: 340, start: 1200 },
]

export function createDoor(): Scene {
  const random = createRandom(11)
  const clouds = Array.from({ length: 5 }, (_, i) => ({
    x: i * 260 + random() * 80,
    y: 40 + random() * 80,
    speed: 5 + random() * 5,
  }))
  return {
    paintStill(painter) {
      paintSky(painter)
      paintHouses(painter)
      paintStreet(painter)
      paintGarden(painter)
    },
    paintMoving(painter, seconds) {
      for (const cloud of clouds) paintCloud(painter, ((cloud.x + seconds * cloud.speed) % 1300) - 170, cloud.y)
      paintBalloon(painter, seconds)
      paintBirds(painter, seconds)
      for (const car of cars) paintCar(painter, car, seconds)
      paintWalker(painter, seconds)
      paintLetterBox(painter)
      paintTree(painter, seconds)
      paintFlowers(painter, seconds)
      paintButterfly(painter, seconds)
    },
  }
}

function paintSky(painter: Painter): void {
  painter.gradient(0, 300, ['#5fa8e6', '#92c6f0', '#c8e3f4', '#f8ecd2'].map(colour), createRandom(3))
  painter.glow(800, 96, 190, colour('#fff3c4'), 0.75)
  painter.disc(800, 96, 34, colour('#fffbe6'))
}

function paintHouses(painter: Painter): void {
  const hill = [0, 304]
  for (let x = 0; x <= 960; x += 16) hill.push(x, 232 - 22 * Math.sin(x / 130 + 1) - 8 * Math.sin(x / 41))
  painter.polygon([...hill, 960, 304], colour('#9dc3a4'))
  const walls = ['#f3d9b8', '#e7a98b', '#c9d7c1', '#f0e3d6', '#b8cbe0', '#ecc5a8'].map(colour)
  const roofs = ['#a65a4c', '#6f5a68', '#8d4e44', '#54616f', '#9b5b4a', '#6c5d58'].map(colour)
  for (const [index, wall] of walls.entries()) {
    const x = index * 164 - 12
    const top = 194 + (index % 3) * 8
    const roof = roofs[index]!
    painter.polygon([x - 8, top + 4, x + 76, top - 56, x + 160, top + 4], roof)
    painter.rectangle(x + 112, top - 58, 16, 42, mix(roof, tyre, 0.25))
    painter.rectangle(x, top, 152, 306 - top, wall)
    painter.rectangle(x, top, 152, 5, mix(wall, tyre, 0.25))
    for (const [dx, dy] of [
      [16, 22],
      [104, 22],
      [104, 62],
    ] as const) {
      painter.rectangle(x + dx - 3, top + dy - 3, 38, 34, white)
      painter.rectangle(x + dx, top + dy, 32, 28, mix(glass, colour('#5d86a8'), 0.55))
      painter.polygon(
        [x + dx, top + dy + 28, x + dx + 20, top + dy, x + dx + 32, top + dy, x + dx + 12, top + dy + 28],
        glass,
        0.5,
      )
      painter.rectangle(x + dx + 15, top + dy, 2, 28, white)
    }
    painter.rectangle(x + 62, 254, 32, 54, mix(roof, white, 0.1))
    painter.rectangle(x + 58, 250, 40, 4, white)
    painter.disc(x + 88, 280, 2, colour('#f6dd93'))
  }
  for (let x = -10; x < 970; x += 31) {
    painter.disc(x + (x % 3) * 4, 300, 17, colour('#4f8a58'))
    painter.disc(x + 12, 296, 12, colour('#69a467'))
  }
}

function paintStreet(painter: Painter): void {
  painter.gradient(300, 318, ['#cfcac2', '#bdb8b1'].map(colour), createRandom(4))
  painter.gradient(318, 398, ['#6b7078', '#5b6068', '#6a6e75'].map(colour), createRandom(5))
  painter.rectangle(0, 316, 960, 3, colour('#e6e1d8'))
  for (let x = 10; x < 960; x += 74) painter.rectangle(x, 355, 40, 3.5, colour('#f1eee4'), 0.9)
  painter.gradient(396, 424, ['#d9d4cb', '#c6c1b9'].map(colour), createRandom(6))
  painter.rectangle(0, 395, 960, 4, colour('#efeae1'))
  for (let x = 40; x < 960; x += 88) painter.rectangle(x, 399, 1.5, 25, colour('#aaa59e'))
}

function paintGarden(painter: Painter): void {
  painter.gradient(424, 540, ['#86bd62', '#6da553', '#548c45'].map(colour), createRandom(8))
  painter.polygon([436, 424, 524, 424, 640, 540, 320, 540], colour('#d6bfa3'))
  for (let i = 0; i < 5; i++) {
    const y = 424 + i * i * 5.4 + i * 3
    const share = (y - 424) / 116
    painter.rectangle(436 - share * 116, y, 88 + share * 232, 2, colour('#b79f84'))
  }
  for (let x = 0; x < 960; x += 24) {
    if (x > 400 && x < 570) continue
    painter.polygon([x, 452, x, 414, x + 6, 406, x + 12, 414, x + 12, 452], colour('#fbf8f1'))
    painter.rectangle(x + 10, 414, 2, 38, colour('#d8d3c8'))
  }
  for (const y of [420, 440]) {
    painter.rectangle(0, y, 400, 5, colour('#f1ede4'))
    painter.rectangle(576, y, 384, 5, colour('#f1ede4'))
  }
}

/** Nearer than the pavement: in front of who walks by. */
function paintLetterBox(painter: Painter): void {
  painter.rectangle(560, 372, 7, 76, colour('#6d5647'))
  painter.rectangle(545, 352, 44, 24, colour('#c4453f'))
  painter.ellipse(567, 352, 22, 9, colour('#c4453f'))
  painter.rectangle(577, 340, 3, 16, colour('#f5d36b'))
  painter.rectangle(580, 340, 9, 6, colour('#f5d36b'))
}

function paintCloud(painter: Painter, x: number, y: number): void {
  painter.ellipse(x, y + 8, 72, 14, white, 0.75)
  painter.disc(x - 26, y, 21, white, 0.75)
  painter.disc(x + 6, y - 9, 28, white, 0.75)
  painter.disc(x + 36, y + 1, 19, white, 0.75)
}

function paintBalloon(painter: Painter, seconds: number): void {
  const x = ((seconds * 9 + 420) % 1120) - 80
  const y = 104 + Math.sin(seconds * 0.35) * 16
  painter.line(x - 15, y + 26, x - 7, y + 52, 1.4, colour('#7a5b45'))
  painter.line(x + 15, y + 26, x + 7, y + 52, 1.4, colour('#7a5b45'))
  painter.polygon([x - 27, y + 12, x + 27, y + 12, x + 9, y + 42, x - 9, y + 42], colour('#d64f57'))
  painter.disc(x, y, 30, colour('#d64f57'))
  painter.ellipse(x, y, 19, 30, colour('#f6d365'))
  painter.ellipse(x, y, 8, 30, colour('#d64f57'))
  painter.rectangle(x - 8, y + 50, 16, 12, colour('#9b6a43'))
}

function paintBirds(painter: Painter, seconds: number): void {
  for (let i = 0; i < 5; i++) {
    const x = 1010 - ((seconds * 42 + i * 34 + (i % 2) * 20) % 1500)
    const y = 62 + (i % 3) * 17 + Math.sin(seconds + i) * 6
    const flap = Math.sin(seconds * 6 + i * 1.7) * 6
    painter.line(x - 9, y - flap, x, y, 2.2, colour('#40506a'))
    painter.line(x, y, x + 9, y - flap, 2.2, colour('#40506a'))
  }
}

function paintCar(painter: Painter, car: Car, seconds: number): void {
  const way = ((car.start + seconds * Math.abs(car.speed)) % 1700) - 140
  const x = car.speed > 0 ? way : 960 - way
  const front = car.speed > 0 ? 1 : -1
  const y = car.lane + Math.sin(seconds * 9 + car.start) * 0.5
  painter.ellipse(x, car.lane + 20, 66, 5, tyre, 0.35)
  painter.polygon([x - 36, y - 12, x - 22, y - 33, x + 18, y - 33, x + 38, y - 12], mix(car.paint, tyre, 0.12))
  painter.polygon([x - 30, y - 12, x - 19, y - 29, x - 3, y - 29, x - 3, y - 12], glass)
  painter.polygon([x + 2, y - 12, x + 2, y - 29, x + 16, y - 29, x + 31, y - 12], glass)
  painter.rectangle(x - 62, y - 13, 124, 24, car.paint)
  painter.disc(x - 58, y - 1, 11, car.paint)
  painter.disc(x + 58, y - 1, 11, car.paint)
  painter.rectangle(x - 66, y + 4, 132, 6, mix(car.paint, tyre, 0.4))
  painter.ellipse(x + front * 64, y - 3, 4, 4.5, colour('#fff4c2'))
  painter.ellipse(x - front * 65, y - 3, 3, 4.5, colour('#8e1f1f'))
  for (const wheel of [-38, 38]) {
    painter.disc(x + wheel, y + 10, 12, tyre)
    painter.disc(x + wheel, y + 10, 5.5, colour('#c9ced6'))
    const turn = (x + wheel) / 12
    painter.line(
      x + wheel - Math.cos(turn) * 5,
      y + 10 - Math.sin(turn) * 5,
      x + wheel + Math.cos(turn) * 5,
      y + 10 + Math.sin(turn) * 5,
      2,
      tyre,
    )
  }
}

/** Somebody with an umbrella, from right to left along the pavement, with a dog ahead. */
function paintWalker(painter: Painter, seconds: number): void {
  const x = 1020 - ((seconds * 34) % 1400)
  if (x < -120) return
  const step = Math.sin(seconds * 5.5)
  const y = 404 + Math.abs(step) * -1.5
  const coat = colour('#5b4a8a')
  painter.ellipse(x, 417, 22, 3, tyre, 0.3)
  painter.line(x, y - 22, x + step * 9, y + 12, 6, colour('#2f3a52'))
  painter.line(x, y - 22, x - step * 9, y + 12, 6, colour('#2f3a52'))
  painter.polygon([x - 11, y - 16, x - 7, y - 52, x + 7, y - 52, x + 11, y - 16], coat)
  painter.disc(x - 1, y - 60, 8, colour('#e9b992'))
  painter.polygon([x - 9, y - 62, x - 1, y - 70, x + 8, y - 62, x + 7, y - 56, x + 2, y - 64], colour('#4a2f27'))
  painter.line(x - 5, y - 44, x - 14, y - 38, 5, coat)
  painter.line(x - 14, y - 36, x - 14, y - 92, 2, colour('#3a3a40'))
  const bow = [x - 48, y - 84]
  for (let i = 0; i <= 12; i++)
    bow.push(x - 14 - Math.cos((i * Math.PI) / 12) * 34, y - 84 - Math.sin((i * Math.PI) / 12) * 24)
  painter.polygon(bow, colour('#e8655a'))
  painter.polygon([x - 24, y - 84, x - 19, y - 107, x - 9, y - 107, x - 4, y - 84], colour('#f7b0a2'), 0.8)
  const dog = x - 62
  painter.line(x - 14, y - 36, dog + 10, y - 10, 1.2, colour('#3a3a40'))
  for (const [offset, phase] of [
    [-12, 0],
    [-7, 3],
    [9, 1.5],
    [14, 4.5],
  ] as const) {
    const swing = Math.sin(seconds * 9 + phase) * 5
    painter.line(dog + offset, 405, dog + offset + swing, 418, 3.4, colour('#a06a3c'))
  }
  painter.ellipse(dog, 403, 18, 7.5, colour('#b87a46'))
  painter.disc(dog - 19, 395, 8, colour('#b87a46'))
  painter.ellipse(dog - 27, 398, 5, 3.5, colour('#a06a3c'))
  painter.ellipse(dog - 15, 394, 3, 6, colour('#7d4f2b'))
  painter.line(dog + 16, 400, dog + 26, 392 + Math.sin(seconds * 11) * 4, 3, colour('#b87a46'))
}

function paintTree(painter: Painter, seconds: number): void {
  const sway = Math.sin(seconds * 0.9) * 4 + Math.sin(seconds * 2.3) * 1.5
  painter.polygon([86, 470, 100, 330, 98 + sway / 2, 250, 114 + sway / 2, 250, 120, 330, 136, 470], colour('#7d5a43'))
  painter.line(106, 320, 62 + sway, 262, 8, colour('#7d5a43'))
  painter.line(112, 330, 166 + sway, 270, 8, colour('#7d5a43'))
  const crowns = [
    [52, 252, 42],
    [160, 256, 44],
    [108, 232, 56],
    [74, 196, 44],
    [146, 198, 46],
    [110, 166, 44],
  ] as const
  for (const [index, [x, y, r]] of crowns.entries()) {
    const move = sway * (1 + (256 - y) / 90) + Math.sin(seconds * 1.9 + index) * 1.3
    painter.disc(x + move, y, r, colour(index < 3 ? '#4d8f4e' : '#5ba458'))
    painter.disc(x + move + r * 0.2, y - r * 0.25, r * 0.6, colour(index < 3 ? '#69ad5d' : '#84c26c'), 0.85)
  }
  for (let i = 0; i < 4; i++) {
    const fall = (seconds * 0.16 + i / 4) % 1
    painter.ellipse(
      60 + i * 34 + Math.sin(seconds * 2 + i * 2) * 16,
      250 + fall * 216,
      4,
      2.6,
      colour('#e4a94a'),
      1 - fall * 0.4,
    )
  }
}

function paintFlowers(painter: Painter, seconds: number): void {
  const petals = ['#f4728c', '#ffd35c', '#ffffff', '#b184e0', '#ff9457'].map(colour)
  for (let i = 0; i < 22; i++) {
    const x = i < 11 ? 16 + i * 29 : 668 + (i - 11) * 27
    const y = 474 + (i % 3) * 9
    const lean = Math.sin(seconds * 1.4 + i * 0.8) * 4
    painter.line(x, y + 26, x + lean, y, 2, colour('#3f7a3c'))
    for (let petal = 0; petal < 5; petal++) {
      const angle = petal * 1.2566 + i
      painter.disc(x + lean + Math.cos(angle) * 5, y + Math.sin(angle) * 5, 3.8, petals[i % petals.length]!)
    }
    painter.disc(x + lean, y, 3, colour(i % 5 === 1 ? '#a8642c' : '#ffdf70'))
  }
}

function paintButterfly(painter: Painter, seconds: number): void {
  const x = 730 + Math.sin(seconds * 0.5) * 150 + Math.sin(seconds * 1.7) * 22
  const y = 446 + Math.sin(seconds * 1.1) * 24
  const wing = 3 + Math.abs(Math.sin(seconds * 8)) * 7
  for (const side of [-1, 1]) {
    painter.ellipse(x + side * wing * 0.8, y - 4, wing * 0.8, 7, colour('#f08a3c'))
    painter.ellipse(x + side * wing * 0.6, y + 5, wing * 0.6, 5, colour('#f6b352'))
  }
  painter.line(x, y - 8, x, y + 9, 2.2, colour('#3a2b22'))
}

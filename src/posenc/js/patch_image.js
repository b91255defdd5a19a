// A cat on a meadow, for patches to be cut from: shapes from back to front, in patches of an image of 12 by 8.

const SHAPES = [
  ["#74b8e0", "M0 0H12V8H0Z"], // the sky
  ["#f2b632", "M9.55 1.35a.8 .8 0 1 0 -1.6 0a.8 .8 0 1 0 1.6 0Z"],
  ["#f4fafc", "M.5 1.6a.45 .45 0 0 1 .5 -.65a.6 .6 0 0 1 1.1 -.1a.45 .45 0 0 1 .75 .75Z"],
  ["#f4fafc", "M5.9 .95a.3 .3 0 0 1 .4 -.4a.45 .45 0 0 1 .8 0a.3 .3 0 0 1 .4 .4Z"],
  ["#6fae86", "M0 4.6C2 3.2 3.6 3.9 5 4.7C7 5.4 8.6 3.3 12 4.2V8H0Z"], // hills
  ["#559c60", "M0 5.9C2.4 4.8 5 5.2 7 5.8C9 6.2 10.6 5.1 12 5.3V8H0Z"],
  ["#3b7f4a", "M0 7C3 6.4 8 7.2 12 6.5V8H0Z"],
  ["#7a5036", "M10.5 6.6L10.65 4.2H10.95L11.05 6.6Z"], // a tree
  ["#24663c", "M10.75 1.9a.8 .8 0 0 1 .75 .8a.8 .8 0 0 1 .1 1.4a.75 .75 0 0 1 -.8 .75a.8 .8 0 0 1 -1.1 -.4a.75 .75 0 0 1 -.3 -1.3a.8 .8 0 0 1 .5 -.9a.75 .75 0 0 1 .85 -.35Z"],
  ["#a85c1d", "M5.6 7C7 7.4 7.6 6.8 7.3 6C7.1 5.4 7.5 5.1 7.7 5.4C8.2 6.5 7.8 7.9 5.5 7.7Z"], // the cat's tail
  ["#d97e2b", "M3.15 7.75C2.9 6.3 3.5 5 4.5 5C5.6 5 6.2 6.3 5.95 7.75Z"], // its body
  ["#f6e3c6", "M4 7.75C3.8 6.4 4 5.3 4.5 5.3C5 5.3 5.2 6.4 5 7.75Z"],
  ["#d97e2b", "M3.5 3.75L3.42 2.6L4.2 3.1H4.8L5.58 2.6L5.5 3.75Z"], // its ears and head
  ["#d97e2b", "M5.65 4.05a1.15 1 0 1 0 -2.3 0a1.15 1 0 1 0 2.3 0Z"],
  ["#f0b79a", "M3.58 3.3L3.55 2.85L3.9 3.07ZM5.42 3.3L5.45 2.85L5.1 3.07Z"],
  ["#a85c1d", "M4.4 3.07H4.6L4.5 3.5ZM4.1 3.15L4.25 3.1L4.25 3.45ZM4.9 3.15L4.75 3.1L4.75 3.45ZM3.37 4.25L3.75 4.27L3.4 4.4ZM5.63 4.25L5.25 4.27L5.6 4.4Z"],
  ["#f6e3c6", "M5 4.5a.5 .38 0 1 0 -1 0a.5 .38 0 1 0 1 0Z"],
  ["#2b2a28", "M4.16 3.98a.14 .18 0 1 0 -.28 0a.14 .18 0 1 0 .28 0ZM5.12 3.98a.14 .18 0 1 0 -.28 0a.14 .18 0 1 0 .28 0Z"],
  ["#c9656b", "M4.4 4.27H4.6L4.5 4.39Z"],
  ["#f6e3c6", "M4.42 7.75a.42 .25 0 1 0 -.84 0a.42 .25 0 1 0 .84 0ZM5.42 7.75a.42 .25 0 1 0 -.84 0a.42 .25 0 1 0 .84 0Z"], // and paws
];

let paths = null; // once there is a page

export function drawImage(context, left, top, patch) {
  paths ??= SHAPES.map(([colour, path]) => [colour, new Path2D(path)]);
  context.save();
  context.translate(left, top);
  context.scale(patch, patch);
  for (const [colour, path] of paths) {
    context.fillStyle = colour;
    context.fill(path);
  }
  context.restore();
}

"""Makes tests/data/vision: picture files with the pixels Pillow reads, and what transformers prepares from them.

    pip install -r tools/fixture-requirements.txt pillow==13.0.0 torchvision==0.28.0
    python tools/make_vision_fixture.py

Made with Pillow 13.0.0, torch 2.13.0, torchvision 0.28.0, transformers 5.22.2. Also needs libturbojpeg (Debian:
libturbojpeg0), the only one here that writes YCCK. What is written:

  files/            one small file for each form a picture can take
  files.json        of each: width, height, orientation, and where its RGB bytes lie in pixels.bin
  pixels.bin        those bytes, as load_image of transformers gives them (but see `sixteen_bit_grey`)
  resize.json       sizes, filter and seed of a picture made by `formula`, and a hash of the resized bytes
  prepare.json      a random file (in pictures.bin), a preprocessor_config.json, and the input it gives: its shape,
                    and every `step`-th of its values (in values.bin, float32)
"""

import ctypes
import ctypes.util
import hashlib
import io
import json
import pathlib
import random
import struct
import tempfile
import zlib

import numpy
import torch
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional
from transformers import AutoImageProcessor
from transformers.image_utils import load_image

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "vision"
FUZZ = OUT.parent.parent / "fuzz" / "corpus" / "picture"
TORCH_FILTERS = {0: InterpolationMode.NEAREST_EXACT, 1: InterpolationMode.LANCZOS, 2: InterpolationMode.BILINEAR,
                 3: InterpolationMode.BICUBIC}


def formula(width, height, seed):
    """A picture that tests/unit/vision/formula_picture.h makes too: noise, a ramp or blocks."""
    y, x, c = numpy.meshgrid(numpy.arange(height), numpy.arange(width), numpy.arange(3), indexing="ij")
    if seed % 3 == 0:
        z = (x + 4099 * y + 65537 * c + 7919 * seed).astype(numpy.uint64)
        mask = numpy.uint64(0xFFFFFFFF)
        for factor in (0x7FEB352D, 0x846CA68B):
            z = ((z ^ (z >> numpy.uint64(16))) * numpy.uint64(factor)) & mask
        values = z >> numpy.uint64(24)
    elif seed % 3 == 1:
        values = (x * (seed % 7 + 1) + y * (seed % 5 + 2) + c * 40) & 255
    else:
        values = ((x // (seed % 4 + 2) + y // (seed % 3 + 2) + c) & 1) * 255
    return values.astype(numpy.uint8)


def smooth(width, height, seed):
    """Something like a photograph: it compresses well, and lossy formats keep it."""
    noise = numpy.random.default_rng(seed).integers(0, 256, (4, 4, 3), dtype=numpy.uint8)
    return Image.fromarray(noise).resize((width, height), Image.Resampling.BICUBIC)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, color, rows, before=b""):
    """A PNG of packed rows; Pillow does not write every depth."""
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def interlaced_png(width, height, samples, depth, color):
    """Adam7: `samples[y][x]` are the bits of a pixel, or its bytes."""
    rows = []
    for left, top, across, down in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
                                    (0, 1, 1, 2)):
        for y in range(top, height, down):
            line = [samples[y][x] for x in range(left, width, across)]
            if not line:
                continue
            if depth < 8:
                bits = "".join(format(value, f"0{depth}b") for value in line)
                bits += "0" * (-len(bits) % 8)
                rows.append(int(bits, 2).to_bytes(len(bits) // 8, "big"))
            else:
                rows.append(b"".join(line))
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 1)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def packed(values, depth):
    bits = "".join(format(int(value), f"0{depth}b") for value in values)
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def saved(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def exif(orientation, endian="<"):
    exif_data = Image.Exif()
    exif_data.endian = endian
    exif_data[0x010F] = "a camera"
    exif_data[0x0112] = orientation
    return exif_data.tobytes()


def ycck_jpeg(image):
    """CMYK stored as YCCK with halved colour, as Photoshop writes it."""
    library = ctypes.CDLL(ctypes.util.find_library("turbojpeg") or "libturbojpeg.so.0")
    library.tjInitCompress.restype = ctypes.c_void_p
    inks = bytes(255 - byte for byte in image.convert("CMYK").tobytes())
    handle = ctypes.c_void_p(library.tjInitCompress())
    target, size = ctypes.c_void_p(), ctypes.c_ulong()
    cmyk, halved, quality = 11, 2, 90
    failed = library.tjCompress2(handle, inks, image.width, 0, image.height, cmyk, ctypes.byref(target),
                                 ctypes.byref(size), halved, quality, 0)
    assert not failed
    return ctypes.string_at(target, size.value)


def png_files():
    rng = numpy.random.default_rng(1)
    files = {}
    for depth in (1, 2, 4, 8):
        rows = [packed(rng.integers(0, 2**depth, 13), depth) for _ in range(7)]
        files[f"grey{depth}.png"] = png(13, 7, depth, 0, rows)
        palette = rng.integers(0, 256, 3 * 2**depth, dtype=numpy.uint8).tobytes()
        transparent = rng.integers(0, 256, 2**depth - 1, dtype=numpy.uint8).tobytes()
        before = chunk(b"PLTE", palette)
        files[f"palette{depth}.png"] = png(13, 7, depth, 3, rows, before)
        files[f"palette{depth}_transparent.png"] = png(13, 7, depth, 3, rows, before + chunk(b"tRNS", transparent))
    for name, color, channels in (("grey", 0, 1), ("rgb", 2, 3), ("grey_alpha", 4, 2), ("rgba", 6, 4)):
        for depth in (8, 16):
            rows = [rng.integers(0, 256, 9 * channels * depth // 8, dtype=numpy.uint8).tobytes() for _ in range(5)]
            files[f"{name}{depth}.png"] = png(9, 5, depth, color, rows)
    rows = [rng.integers(0, 256, 27, dtype=numpy.uint8).tobytes() for _ in range(5)]
    files["rgb_transparent.png"] = png(9, 5, 8, 2, rows, chunk(b"tRNS", struct.pack(">HHH", *rows[0][:3])))
    files["grey_transparent.png"] = png(9, 5, 8, 0, [row[:9] for row in rows],
                                        chunk(b"tRNS", struct.pack(">H", rows[0][0])))
    pixels = [[bytes(rng.integers(0, 256, 3, dtype=numpy.uint8)) for _ in range(19)] for _ in range(11)]
    files["interlaced.png"] = interlaced_png(19, 11, pixels, 8, 2)
    bits = rng.integers(0, 2, (11, 19)).tolist()
    files["interlaced_grey1.png"] = interlaced_png(19, 11, bits, 1, 0)
    files["one_pixel.png"] = png(1, 1, 8, 2, [b"\x01\x02\x03"])
    files["exif_6.png"] = png(9, 5, 8, 2, rows, chunk(b"eXIf", exif(6)[6:]))
    files["animated.png"] = saved(smooth(12, 8, 3), "PNG", save_all=True, append_images=[smooth(12, 8, 4)])
    return files


def jpeg_files():
    photo = smooth(37, 29, 7)
    files = {
        "grey.jpg": saved(photo.convert("L"), "JPEG"),
        "444.jpg": saved(photo, "JPEG", subsampling=0, quality=92),
        "422.jpg": saved(photo, "JPEG", subsampling=1),
        "420.jpg": saved(photo, "JPEG", subsampling=2),
        "progressive.jpg": saved(photo, "JPEG", progressive=True),
        "restarts.jpg": saved(photo, "JPEG", restart_marker_blocks=2),
        "rgb.jpg": saved(photo, "JPEG", keep_rgb=True),
        "cmyk.jpg": saved(photo.convert("CMYK"), "JPEG"),
        "ycck.jpg": ycck_jpeg(photo),
    }
    for orientation in range(1, 9):
        options = {"exif": exif(orientation, "<>"[orientation % 2]), "subsampling": 0}
        files[f"exif_{orientation}.jpg"] = saved(smooth(21, 13, 9), "JPEG", **options)
    files["exif_9.jpg"] = saved(smooth(21, 13, 9), "JPEG", exif=exif(9))
    return files


def webp_files():
    photo = smooth(31, 23, 11)
    alpha = photo.convert("RGBA")
    alpha.putalpha(smooth(31, 23, 12).convert("L"))
    frames = {"save_all": True, "append_images": [smooth(31, 23, 13)], "duration": 100}
    return {
        "lossy.webp": saved(photo, "WEBP", quality=80),
        "lossless.webp": saved(photo, "WEBP", lossless=True),
        "lossy_alpha.webp": saved(alpha, "WEBP", quality=80),
        "lossless_alpha.webp": saved(alpha, "WEBP", lossless=True, exact=True),
        "animated.webp": saved(photo, "WEBP", **frames),
        "exif_8.webp": saved(photo, "WEBP", exif=exif(8)),
        "wrong_name.png": saved(photo, "WEBP", quality=70),
    }


def pnm_files():
    rng = numpy.random.default_rng(2)
    values = rng.integers(0, 256, 30)
    text = " ".join(str(value) for value in values)
    small = " ".join(str(value) for value in rng.integers(0, 101, 30))
    return {
        "plain.pgm": f"P2\n# made by hand\n6 5\n255\n{text}\n".encode(),
        "plain.ppm": f"P3 5 2 # wide, high\n255 {text}".encode(),
        "plain_100.ppm": f"P3 5 2 100\n{small}\n".encode(),
        "bytes.pgm": b"P5 6 5 255\n" + bytes(values.tolist()),
        "bytes.ppm": b"P6\n5 2\n255\n" + bytes(values.tolist()),
        "bytes_77.ppm": b"P6\n5 2\n77\n" + bytes((values % 78).tolist()),
        "sixteen.ppm": b"P6\n5 2\n65535\n" + rng.integers(0, 65536, 30).astype(">u2").tobytes(),
        "sixteen_1000.ppm": b"P6\n5 2\n1000\n" + rng.integers(0, 1001, 30).astype(">u2").tobytes(),
        "sixteen.pgm": b"P5\n6 5\n65535\n" + rng.integers(0, 65536, 30).astype(">u2").tobytes(),
    }


def sixteen_bit_grey(data):
    """Pillow makes all above 255 white; torchvision and we keep the picture. None for any other file."""
    image = Image.open(io.BytesIO(data))
    if image.mode not in ("I", "I;16"):
        return None
    values = numpy.array(image).astype(numpy.int64)
    grey = values >> 8 if image.format == "PNG" else numpy.round(values / 65535 * 255)
    return numpy.repeat(grey.astype(numpy.uint8)[:, :, None], 3, axis=2)


def pixels_of(path):
    grey = sixteen_bit_grey(path.read_bytes())
    return grey if grey is not None else numpy.array(load_image(str(path)))


def write_files():
    answers, pixels = [], b""
    (OUT / "files").mkdir(parents=True, exist_ok=True)
    for name, data in {**png_files(), **jpeg_files(), **webp_files(), **pnm_files()}.items():
        path = OUT / "files" / name
        path.write_bytes(data)
        expected = pixels_of(path)
        orientation = Image.open(path).getexif().get(0x0112, 1)
        answers.append({"file": name, "width": expected.shape[1], "height": expected.shape[0],
                        "orientation": orientation if orientation <= 8 else 1, "offset": len(pixels)})
        pixels += expected.tobytes()
    (OUT / "pixels.bin").write_bytes(pixels)
    write_json("files.json", answers)


def write_json(name, items):
    lines = ",\n".join(json.dumps(item) for item in items)
    (OUT / name).write_text(f"[\n{lines}\n]\n")


def resized(picture, width, height, code, rule):
    if rule == "pillow":
        return numpy.array(Image.fromarray(picture).resize((width, height), code))
    tensor = torch.from_numpy(picture).permute(2, 0, 1).contiguous()
    result = functional.resize(tensor, [height, width], interpolation=TORCH_FILTERS[code], antialias=True)
    return result.permute(1, 2, 0).contiguous().numpy()


def write_resizes():
    rng = random.Random(5)
    cases = []
    sizes = [(rng.randint(1, 60), rng.randint(1, 60), rng.randint(1, 70), rng.randint(1, 70)) for _ in range(200)]
    sizes += [(640, 480, 224, 224), (1023, 771, 97, 389), (50, 40, 500, 400), (3000, 2, 7, 5), (2, 3000, 5, 7),
              (224, 500, 224, 224), (500, 224, 224, 224), (1, 1, 33, 17), (255, 255, 256, 256), (2000, 1500, 224, 224)]
    for index, (width, height, new_width, new_height) in enumerate(sizes):
        picture = formula(width, height, index)
        for rule in ("pillow", "torch"):
            code = rng.choice([0, 1, 2, 2, 3, 3, 4, 5] if rule == "pillow" else [0, 1, 2, 2, 3, 3])
            result = resized(picture, new_width, new_height, code, rule)
            cases.append({"seed": index, "from": [width, height], "to": [new_width, new_height], "filter": code,
                          "rule": rule, "sha256": hashlib.sha256(result.tobytes()).hexdigest()})
    write_json("resize.json", cases)


def random_file(rng):
    photo = smooth(rng.randint(5, 60), rng.randint(5, 60), rng.randint(0, 1 << 30))
    turned = {"exif": exif(rng.randint(1, 8))} if rng.random() < 0.3 else {}
    kind = rng.choice(["PNG", "JPEG", "WEBP", "PPM"])
    if kind == "PNG":
        mode = rng.choice(["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
        if mode == "I;16":
            return saved(Image.fromarray(numpy.array(photo.convert("L")).astype(numpy.uint16) * 257), "PNG")
        return saved(photo.convert(mode), "PNG", **turned)
    if kind == "JPEG":
        photo = photo.convert(rng.choice(["L", "RGB", "RGB", "CMYK"]))
        return saved(photo, "JPEG", progressive=rng.random() < 0.3, subsampling=rng.choice([0, 1, 2]), **turned)
    if kind == "WEBP":
        return saved(photo.convert(rng.choice(["RGB", "RGBA"])), "WEBP", lossless=rng.random() < 0.5, **turned)
    return saved(photo.convert(rng.choice(["L", "RGB"])), "PPM")


def random_size(rng, name):
    side = lambda: rng.randint(8, 90)
    forms = [{"height": side(), "width": side()}, {"shortest_edge": rng.randint(8, 60), "longest_edge": side() + 8}, side(),
             [side(), side()]]
    if name != "DetrImageProcessor":
        forms += [{"shortest_edge": side()}, {"max_height": side(), "max_width": side()}]
    return rng.choice(forms)


def random_config(rng):
    """A preprocessor_config.json in which any member may be missing or null."""
    name = rng.choice(["ViT", "DeiT", "Bit", "CLIP", "Siglip", "DINOv3ViT", "Detr"]) + "ImageProcessor"
    maybe = {"do_resize": rng.random() < 0.9, "do_center_crop": rng.random() < 0.6, "do_rescale": rng.random() < 0.9,
             "do_normalize": rng.random() < 0.9, "resample": rng.choice([0, 1, 2, 3, 3]),
             "crop_size": rng.choice([rng.randint(8, 80), {"height": rng.randint(8, 80), "width": rng.randint(8, 80)}]),
             "image_mean": [round(rng.uniform(0.3, 0.6), 3) for _ in range(3)],
             "image_std": [round(rng.uniform(0.2, 0.5), 3) for _ in range(3)],
             "rescale_factor": rng.choice([1 / 255, 1 / 127.5]), "size": random_size(rng, name)}
    config = {key: value for key, value in maybe.items() if rng.random() < 0.6}
    if config.get("do_center_crop"):
        config["crop_size"] = maybe["crop_size"]
    if rng.random() < 0.2:
        config[rng.choice(["do_resize", "do_center_crop", "do_rescale", "do_normalize", "do_convert_rgb"])] = None
    if rng.random() < 0.2:
        config["default_to_square"] = rng.choice([True, False, None])
    if name == "DetrImageProcessor":
        if rng.random() < 0.3:
            config.update(size=rng.randint(8, 60), max_size=rng.randint(60, 90))
        if rng.random() < 0.3:
            config["do_pad"] = rng.random() < 0.5
        if rng.random() < 0.2:
            config.update(do_pad=True, pad_size={"height": 1400, "width": 1400})
    key = rng.choice(["image_processor_type", "image_processor_type", "feature_extractor_type"])
    suffix = rng.choice(["", "", "Fast"]) if key == "image_processor_type" else ""
    named = name.replace("ImageProcessor", "FeatureExtractor") if key == "feature_extractor_type" else name + suffix
    return name, {key: named, **config}


def prepared(config, image, backend):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "preprocessor_config.json").write_text(json.dumps(config))
        (pathlib.Path(folder) / "config.json").write_text('{"model_type": "vit"}')
        processor = AutoImageProcessor.from_pretrained(folder, backend=backend)
    return processor(images=image, return_tensors="pt")


def write_prepared():
    rng = random.Random(6)
    cases, pictures, values = [], b"", b""
    while len(cases) < 260:
        data = random_file(rng)
        name, config = random_config(rng)
        backend = "torchvision" if name.startswith("DINOv3") else rng.choice(["torchvision", "torchvision", "pil"])
        grey = sixteen_bit_grey(data)
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            image = Image.fromarray(grey) if grey is not None else load_image(file.name)
        try:
            answer = prepared(config, image, backend)
        except (TypeError, ValueError):  # transformers cannot do that either
            continue
        tensor = answer["pixel_values"][0].to(torch.float32).contiguous()
        step = -(-tensor.numel() // 96)
        if backend == "pil":  # files never say so; this is how our test asks for it
            config = {**config, "image_processor_type": name + "Pil"}
        case = {"picture": [len(pictures), len(data)], "config": config, "shape": list(tensor.shape), "step": step,
                "values": len(values) // 4}
        if "pixel_mask" in answer:
            case["mask"] = int(answer["pixel_mask"].sum())
        cases.append(case)
        pictures += data
        values += tensor.flatten()[::step].numpy().astype("<f4").tobytes()
    (OUT / "pictures.bin").write_bytes(pictures)
    (OUT / "values.bin").write_bytes(values)
    write_json("prepare.json", cases)


def write_fuzz_corpus():
    FUZZ.mkdir(parents=True, exist_ok=True)
    files = {**png_files(), **jpeg_files(), **webp_files(), **pnm_files()}
    tiny = smooth(9, 7, 1)
    files = {"palette.png": files["palette2_transparent.png"], "grey16.png": files["grey16.png"],
             "interlaced.png": files["interlaced.png"], "exif.png": files["exif_6.png"],
             "tiny.jpg": saved(tiny, "JPEG", exif=exif(5)), "progressive.jpg": saved(tiny, "JPEG", progressive=True),
             "cmyk.jpg": saved(tiny.convert("CMYK"), "JPEG"), "lossy.webp": files["lossy_alpha.webp"],
             "lossless.webp": saved(tiny, "WEBP", lossless=True), "animated.webp": files["animated.webp"],
             "plain.ppm": files["plain.ppm"], "sixteen.pgm": files["sixteen.pgm"]}
    for name, data in files.items():
        (FUZZ / name).write_bytes(data)


if __name__ == "__main__":
    write_files()
    write_resizes()
    write_prepared()
    write_fuzz_corpus()

"""Which files a folder holds, and reading them decompressed within limits."""

import gzip
import io
import lzma
import random
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from annotations.datasets.files import ArchiveError, FileLimits, data_files, is_zip, open_stream, unpack_zip

TEXT = b"".join(f"line {number}: {random.Random(number).random()}\n".encode() for number in range(2000))
SMALL = FileLimits(max_bytes=1 << 20, max_ratio=100, ratio_from=1 << 16, max_files=3)


def write(path: Path, data: bytes = b"{}") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def names(files: list[Path], root: Path) -> list[str]:
    return [str(file.relative_to(root)) for file in files]


def read_until_damage(path: Path, limits: FileLimits | None = None) -> tuple[bytes, str]:
    """All bytes that can be read, in uneven reads, and the message of the error that ended them."""
    data = b""
    with open_stream(path, limits or FileLimits()) as stream:
        try:
            while piece := stream.read(1000):
                data += piece
        except ArchiveError as error:
            return data, str(error)
    return data, ""


# data_files


def test_a_file_is_its_own_only_data_file_whatever_its_name(tmp_path):
    file = write(tmp_path / "upload.bin")
    assert data_files(file, (".json",)) == [file]


def test_a_folder_is_searched_recursively_and_sorted_by_name(tmp_path):
    for name in ("b.json", "a/z.json", "a/y.json.xz", "c.txt"):
        write(tmp_path / name)
    assert names(data_files(tmp_path, (".json", ".json.xz")), tmp_path) == ["a/y.json.xz", "a/z.json", "b.json"]


def test_numbered_files_follow_the_integer_after_the_last_underscore(tmp_path):
    for name in ("train_10.json", "train_2.json", "train_1.json.gz", "notes.json"):
        write(tmp_path / "train" / name)
    found = data_files(tmp_path, (".json", ".json.gz"), numbered=True)
    assert [file.name for file in found] == ["notes.json", "train_1.json.gz", "train_2.json", "train_10.json"]


def test_links_and_hidden_files_are_left_out(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    write(outside / "secret.json")
    write(inside / "real.json")
    write(inside / ".DS_Store.json")
    write(inside / "__MACOSX" / "._real.json")
    (inside / "link.json").symlink_to(outside / "secret.json")
    (inside / "folder").symlink_to(outside)
    assert names(data_files(inside, (".json",)), inside) == ["real.json"]


def test_nothing_at_the_path_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="neither a file nor a folder"):
        data_files(tmp_path / "absent", (".json",))


# open_stream


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress], ids=["plain", "gzip", "xz"])
def test_the_format_is_detected_by_content_not_by_name(tmp_path, compress):
    assert read_until_damage(write(tmp_path / "data.json", compress(TEXT))) == (TEXT, "")


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
def test_concatenated_streams_with_padding_are_one_file(tmp_path, compress):
    file = write(tmp_path / "data", compress(TEXT) + b"\0" * 8 + compress(b"end"))
    assert read_until_damage(file) == (TEXT + b"end", "")


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
def test_a_cut_file_gives_all_that_precedes_the_cut(tmp_path, compress):
    whole = compress(TEXT)
    data, message = read_until_damage(write(tmp_path / "data.json.z", whole[: len(whole) * 2 // 3]))
    assert len(data) > len(TEXT) // 2
    assert TEXT.startswith(data)
    assert message == f"data.json.z is cut off after {len(whole) * 2 // 3:,} compressed bytes"


def test_a_damaged_checksum_is_named_after_all_data(tmp_path):
    whole = bytearray(gzip.compress(TEXT))
    whole[-6] ^= 1
    data, message = read_until_damage(write(tmp_path / "data.gz", bytes(whole)))
    assert TEXT.startswith(data)
    assert len(TEXT) - len(data) < 5000
    assert "data.gz is damaged after" in message
    assert "incorrect data check" in message


def test_bytes_after_the_end_of_a_compressed_file_are_named(tmp_path):
    data, message = read_until_damage(write(tmp_path / "data.gz", gzip.compress(TEXT) + b"left over"))
    assert data == TEXT
    assert "is damaged after" in message


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
def test_a_bomb_stops_at_the_ratio_limit(tmp_path, compress):
    limits = FileLimits(max_ratio=100, ratio_from=1 << 16)
    data, message = read_until_damage(write(tmp_path / "bomb", compress(b"\0" * (2 << 20))), limits)
    assert len(data) < 2 << 20
    assert message == "bomb expands more than 100 times, the limit for compressed files"


def test_a_file_stops_at_the_size_limit(tmp_path):
    noise = random.Random(1).randbytes(1 << 15) * 40
    data, message = read_until_damage(write(tmp_path / "big", gzip.compress(noise)), SMALL)
    assert len(data) >= 1 << 20
    assert message == "big holds more than 1,048,576 uncompressed bytes, the limit"


def test_lines_of_a_compressed_file_can_be_iterated(tmp_path):
    with open_stream(write(tmp_path / "data.xz", lzma.compress(TEXT))) as stream:
        assert list(stream) == TEXT.splitlines(keepends=True)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_a_tar_archive_is_named_and_what_looks_like_one_later_is_read(tmp_path, mode):
    inside = write(tmp_path / "inside.json", b"[]")
    with tarfile.open(tmp_path / "data.tar", mode) as archive:
        archive.add(inside, "inside.json")
    refused = "data.tar is a tar archive; unpack it and import its folder"
    with pytest.raises(ArchiveError, match=refused), open_stream(tmp_path / "data.tar"):
        pass
    text = b" " * 300 + b"ustar"
    with open_stream(write(tmp_path / "text", gzip.compress(text) if mode == "w:gz" else text)) as stream:
        assert stream.read() == text


@pytest.mark.parametrize(("magic", "kind"), [(b"BZh91AY", "bzip2"), (b"\x28\xb5\x2f\xfd0", "zstd")])
def test_other_compression_is_named(tmp_path, magic, kind):
    with pytest.raises(ArchiveError, match=f"is a {kind} file"), open_stream(write(tmp_path / "data", magic)):
        pass


def test_a_zip_is_not_opened_as_a_data_file(tmp_path):
    file = make_zip(tmp_path, {"a.json": b"{}"})
    with pytest.raises(ArchiveError, match="is a zip archive"), open_stream(file):
        pass


# unpack_zip


def make_zip(folder: Path, members: dict[str, bytes], mode: int = 0o644) -> Path:
    path = folder / "upload.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (mode if stat.S_IFMT(mode) else stat.S_IFREG | mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return path


def test_a_zip_is_unpacked_with_its_folders(tmp_path):
    file = make_zip(tmp_path, {"data/train/a.json": TEXT, "./b.json": b"{}", "c\\d.json": b"[]"})
    assert is_zip(file)
    done = unpack_zip(file, tmp_path / "into", SMALL)
    assert names(sorted(done.files), tmp_path / "into") == ["b.json", "c/d.json", "data/train/a.json"]
    assert (tmp_path / "into/data/train/a.json").read_bytes() == TEXT
    assert done.problems == []


@pytest.mark.parametrize("name", ["../evil.json", "/etc/evil.json", "a/../../evil.json", "..\\evil.json", "C:\\evil"])
def test_a_name_that_leaves_the_folder_refuses_the_archive(tmp_path, name):
    file = make_zip(tmp_path, {"good.json": b"{}", name: b"{}"})
    with pytest.raises(ArchiveError, match="unsafe name"):
        unpack_zip(file, tmp_path / "into")
    assert not (tmp_path / "into").exists()
    assert not (tmp_path / "evil.json").exists()


def test_a_name_thousands_of_folders_deep_refuses_the_archive(tmp_path):
    deep = "/".join(["d"] * 2000)
    with pytest.raises(ArchiveError, match=r"unsafe name 'd/d/.*…'"):
        unpack_zip(make_zip(tmp_path, {"good.json": b"{}", f"{deep}/a.json": b"{}"}), tmp_path / "into")
    assert not (tmp_path / "into").exists()
    as_deep_as_may_be = make_zip(tmp_path, {"/".join(["d"] * 63 + ["a.json"]): b"{}"})
    assert len(unpack_zip(as_deep_as_may_be, tmp_path / "into").files) == 1


def test_a_name_that_is_too_long_is_cut_in_the_message(tmp_path):
    with pytest.raises(ArchiveError, match=r"cannot write 'aaa.*…'") as refused:
        unpack_zip(make_zip(tmp_path, {"a" * 10_000: b"{}"}), tmp_path / "out")
    assert len(str(refused.value)) < 300


def test_links_in_a_zip_are_left_out(tmp_path):
    file = make_zip(tmp_path, {"link": b"/etc/passwd"}, mode=stat.S_IFLNK | 0o777)
    assert unpack_zip(file, tmp_path / "into").files == []


def test_too_many_files_refuse_the_archive(tmp_path):
    file = make_zip(tmp_path, {f"{number}.json": b"{}" for number in range(4)})
    with pytest.raises(ArchiveError, match="holds 4 files, more than the limit of 3"):
        unpack_zip(file, tmp_path / "into", SMALL)


def test_a_directory_of_millions_of_entries_is_not_read_into_memory(tmp_path):
    data = bytearray(make_zip(tmp_path, {"a.json": b"{}"}).read_bytes())
    end = data.rfind(b"PK\x05\x06")
    data[end + 12 : end + 16] = (1 << 30).to_bytes(4, "little")
    with pytest.raises(ArchiveError, match="lists more files than the limit"):
        unpack_zip(write(tmp_path / "many.zip", bytes(data)), tmp_path / "into")


def test_a_zip_bomb_stops_at_the_ratio_limit(tmp_path):
    file = make_zip(tmp_path, {"bomb.json": b"\0" * (1 << 20)})
    with pytest.raises(ArchiveError, match="expands more than 100 times"):
        unpack_zip(file, tmp_path / "into", FileLimits(max_bytes=1 << 30, max_ratio=100, ratio_from=1 << 16))
    assert not (tmp_path / "into").exists()


def test_a_zip_stops_at_the_total_size_of_its_members(tmp_path):
    noise = random.Random(1).randbytes(400 << 10)
    file = make_zip(tmp_path, {"a": noise, "b": noise, "c": noise})
    with pytest.raises(ArchiveError, match="holds more than 1,048,576 uncompressed bytes"):
        unpack_zip(file, tmp_path / "into", SMALL)


def test_a_name_held_twice_refuses_the_archive(tmp_path):
    data = make_zip(tmp_path, {"a.json": b"1", "b.json": b"2"}).read_bytes()
    write(tmp_path / "twice.zip", data.replace(b"b.json", b"a.json"))
    with pytest.raises(ArchiveError, match=r"holds 'a.json' twice"):
        unpack_zip(tmp_path / "twice.zip", tmp_path / "into")


def test_a_damaged_member_keeps_its_beginning_and_the_others(tmp_path):
    data = bytearray(make_zip(tmp_path, {"a.json": TEXT, "b.json": b"{}"}).read_bytes())
    middle = zipfile.ZipFile(io.BytesIO(data)).getinfo("a.json").compress_size // 2
    data[middle : middle + 40] = b"\xff" * 40
    done = unpack_zip(write(tmp_path / "hurt.zip", bytes(data)), tmp_path / "into")
    assert [name for name, _ in done.problems] == ["a.json"]
    assert done.problems[0][1].startswith("is damaged: ")
    assert (tmp_path / "into/b.json").read_bytes() == b"{}"
    kept = (tmp_path / "into/a.json").read_bytes()
    assert kept[: len(TEXT) // 3] == TEXT[: len(TEXT) // 3]


def test_an_encrypted_member_is_named(tmp_path):
    data = bytearray(make_zip(tmp_path, {"a.json": b"{}"}).read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    done = unpack_zip(write(tmp_path / "locked.zip", bytes(data)), tmp_path / "into")
    assert done.problems == [("a.json", "is encrypted; unpack it with its password and import the folder")]


def test_a_cut_zip_says_that_its_directory_is_missing(tmp_path):
    whole = make_zip(tmp_path, {"a.json": TEXT}).read_bytes()
    with pytest.raises(ArchiveError, match=r"cut.zip is cut off: the directory at the end .* is missing"):
        unpack_zip(write(tmp_path / "cut.zip", whole[:-60]), tmp_path / "into")


def test_a_file_that_is_no_zip_is_refused(tmp_path):
    with pytest.raises(ArchiveError, match="is not a zip archive"):
        unpack_zip(write(tmp_path / "no.zip", b"plain"), tmp_path / "into")
